import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { assetPath } from '../http/assets.ts';

export type Page = {
  title: string;
  /** Whoever is signed in gets the navigation. */
  user?: User | undefined;
  /** Already escaped. */
  main: string;
  /** An asset of the page's own. */
  script?: string;
};

/** The frame of every page of the console. */
export function layout({ title, user, main, script }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <title>${title} · Plant Store</title>
  <link rel="icon" type="image/svg+xml" href="${assetPath('leaf.svg')}">
  !${['console.css', 'status.css', 'pages.css'].map((file) => html`<link rel="stylesheet" href="${assetPath(file)}">`)}
  !${script === undefined ? '' : html`<script type="module" src="${assetPath(script)}"></script>`}
</head>
<body>
  !${user === undefined ? '' : header(user)}
  <main>!${main}</main>
</body>
</html>
`;
}

function header({ name, role }: User): string {
  return html`<header>
    <a class="brand" href="/"><img src="${assetPath('leaf.svg')}" alt="" width="28" height="28"> Plant Store</a>
    <nav aria-label="Console">
      <a href="/">Status</a>
      <a href="/queue">Queue</a>
      <a href="/controls">Controls</a>
      <a href="/runbook">Runbook</a>
    </nav>
    <form class="who" method="post" action="/sign-out">
      <span title="Signed in as ${name}, ${role}">${name} <small>${role}</small></span>
      <button class="quiet">Sign out</button>
    </form>
  </header>`;
}
