import type { ErrorBody } from '@plant-store/contracts/error-catalogue';

type Answer = {
  content: { 'application/json': { examples: Record<string, { value: Partial<ErrorBody> }> } };
};
type Document = { paths: { '/plants': { post: { responses: Record<string, Answer> } } } };

export type DocumentedRefusal = { name: string; status: number; body: ErrorBody };

/** Every example of a refusal in the OpenAPI document. */
export function documentedRefusals(document: Document): DocumentedRefusal[] {
  return Object.entries(document.paths['/plants'].post.responses).flatMap(([status, { content }]) =>
    Object.entries(content['application/json'].examples)
      .filter(([, { value }]) => value.error !== undefined)
      .map(([name, { value }]) => ({ name, status: Number(status), body: value as ErrorBody })),
  );
}
