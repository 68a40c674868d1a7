import type { RunningConsole } from './running-console.ts';

type Sent = { method?: string; headers?: Record<string, string>; body?: URLSearchParams | string };

/** Somebody at a browser: keeps the session's cookie, follows no redirect. */
export type Visitor = {
  cookie: string | undefined;
  /** Asks as a person who wants a page. */
  see: (path: string, sent?: Sent) => Promise<Response>;
  /** Asks as a script that wants JSON. */
  call: (path: string, sent?: Sent) => Promise<Response>;
  signIn: (
    account: { name: string; password: string },
    headers?: Record<string, string>,
  ) => Promise<Response>;
};

export function visit({ url }: Pick<RunningConsole, 'url'>): Visitor {
  async function ask(accept: string, path: string, { headers, ...sent }: Sent = {}): Promise<Response> {
    const answer = await fetch(url + path, {
      ...sent,
      redirect: 'manual',
      headers: { accept, ...(visitor.cookie !== undefined && { cookie: visitor.cookie }), ...headers },
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) visitor.cookie = set.split(';')[0];
    return answer;
  }
  const visitor: Visitor = {
    cookie: undefined,
    see: (path, sent) => ask('text/html,*/*;q=0.8', path, sent),
    call: (path, sent) => ask('application/json', path, sent),
    signIn: ({ name, password }, headers = {}) =>
      visitor.see('/sign-in', { method: 'POST', headers, body: new URLSearchParams({ name, password }) }),
  };
  return visitor;
}

/** A visitor who is signed in. @throws when the console refuses. */
export async function signedIn(
  console_: Pick<RunningConsole, 'url'>,
  account: { name: string; password: string },
): Promise<Visitor> {
  const visitor = visit(console_);
  const answer = await visitor.signIn(account);
  if (answer.status !== 303) throw new Error(`sign-in was answered with ${answer.status}`);
  return visitor;
}
