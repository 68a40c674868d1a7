import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { layout } from './layout.ts';

export type Failure = {
  status: number;
  words: string;
  reference?: string | undefined;
  user?: User | undefined;
};

/** What went wrong in plain words; the log line with `reference` has the details. */
export function failurePage({ status, words, reference, user }: Failure): string {
  return layout({
    title: String(status),
    user,
    main: html`<section class="failure">
      <p class="code">${status}</p>
      <h1>${words}</h1>
      !${reference === undefined ? '' : html`<p class="muted">The log tells more under <code>${reference}</code>.</p>`}
      <p><a href="/">Back to the status</a></p>
    </section>`,
  });
}
