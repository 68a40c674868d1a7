import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { layout } from './layout.ts';

/** @param article HTML made from the repository's own runbook. */
export function runbookPage(user: User, article: string): string {
  return layout({
    title: 'Runbook',
    user,
    at: '/runbook',
    main: html`<article class="document">!${article}</article>`,
  });
}
