import type { Answer } from '@plant-store/search/answer';
import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import type { AskedFields } from '../search/asked-question.ts';
import { layout } from './layout.ts';

/** Longer names are cut in the table; the plant's page has all of it. */
const NAME_SHOWN_MAX = 120;

export type SearchPage = {
  user: User;
  asked: AskedFields;
  /** Absent before anything is asked, and when the question makes no sense. */
  answer?: Answer | undefined;
  problem?: string | undefined;
};

/** The search form and a page of what it found. Each page has an address of its own, which stays the same. */
export function searchPage({ user, asked, answer, problem }: SearchPage): string {
  return layout({
    title: 'Plants',
    user,
    at: '/plants',
    styles: ['plants.css'],
    main: html`
    <h1>Plants</h1>
    <form class="search" method="get" action="/plants">
      !${field('Words of name and tag', 'text', asked, 'rose gar')}
      !${field('Id', 'id', asked, '9007199254740993')}
      !${field('Beginning of the name', 'name', asked)}
      !${field('Whole tag', 'tag', asked)}
      !${field('Created at or after', 'since', asked, '2h, or 2026-11-21T10:00Z')}
      !${field('Created before', 'until', asked, 'UTC')}
      !${field('Request id', 'request', asked)}
      !${field('Commit', 'commit', asked)}
      !${field('Subject', 'subject', asked)}
      <p class="buttons"><button>Search</button> <a href="/plants">Clear</a></p>
    </form>
    !${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    !${answer === undefined ? '' : found(answer, asked)}`,
  });
}

function field(label: string, name: keyof AskedFields, asked: AskedFields, example = ''): string {
  return html`<label>${label}
        <input name="${name}" value="${asked[name] ?? ''}" maxlength="1000" autocomplete="off" spellcheck="false" placeholder="${example}">
      </label>`;
}

function found({ plants, next, timedOut }: Answer, asked: AskedFields): string {
  const rows = plants.map(
    ({ id, name, tag, created, indexed }) =>
      html`<tr><th scope="row"><a href="/plants/${id}">${id}</a></th><td>${cut(name)}</td><td>${cut(tag ?? '')}</td><td>${shownTime(created)}</td><td>${shownTime(indexed)}</td></tr>`,
  );
  return html`<section aria-label="What was found">
      <div class="panel">
        !${
          rows.length === 0
            ? html`<p class="muted" data-none>${timedOut ? 'Nothing yet.' : 'The search index has no such plant.'} !${byIdInstead(asked)}</p>`
            : html`<table class="text" data-found>
          <caption class="unseen">Plants found</caption>
          <thead><tr><th scope="col">Id</th><th scope="col">Name</th><th scope="col">Tag</th><th scope="col">Created</th><th scope="col">Indexed</th></tr></thead>
          <tbody>!${rows}</tbody>
        </table>`
        }
      </div>
      !${timedOut ? html`<p class="muted">The search took longer than it may and is not finished: ask for more, or go on.</p>` : ''}
      !${next === undefined ? '' : html`<p><a rel="next" href="/plants?${new URLSearchParams({ ...asked, after: next })}">Next page</a></p>`}
    </section>`;
}

/** A plant that is not indexed yet, or cannot be, is found by its id alone. */
function byIdInstead({ id }: AskedFields): string {
  if (id === undefined) return '';
  return html`A plant that is not indexed yet has a page all the same: <a href="/plants/${id}">plant ${id}</a>.`;
}

function cut(text: string): string {
  return text.length > NAME_SHOWN_MAX ? `${text.slice(0, NAME_SHOWN_MAX).toWellFormed()}…` : text;
}

function shownTime(time: Date): string {
  return time.toISOString().replace('T', ' ');
}
