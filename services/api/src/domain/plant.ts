/** A plant as a client sends it. The id is the exact int64, never a double. */
export type Plant = { id: bigint; name: string; tag?: string };

/** Whether two plants with one id are the same plant. An absent tag differs from an empty one. */
export function sameContent(a: Plant, b: Plant): boolean {
  return a.name === b.name && a.tag === b.tag;
}
