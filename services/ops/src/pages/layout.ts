import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { assetPath } from '../http/assets.ts';
import { NAVIGATION } from './navigation.ts';

export type Page = {
  title: string;
  /** Whoever is signed in gets the navigation. */
  user?: User | undefined;
  /** `href` of the navigation entry that this page belongs to. */
  at?: string;
  /** Already escaped. */
  main: string;
  /** Assets of the page's own, in the order in which they are loaded. */
  styles?: readonly string[];
  /** Scripts that are no modules, before the others. */
  libraries?: readonly string[];
  scripts?: readonly string[];
};

const STYLES = ['console.css', 'status.css', 'pages.css'];

/** The frame of every page of the console. */
export function layout(page: Page): string {
  const { title, user, at, main, styles = [], libraries = [], scripts = [] } = page;
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <title>${title} · Plant Store</title>
  <link rel="icon" type="image/svg+xml" href="${assetPath('leaf.svg')}">
  !${[...STYLES, ...styles].map((file) => html`<link rel="stylesheet" href="${assetPath(file)}">`)}
  !${libraries.map((file) => html`<script defer src="${assetPath(file)}"></script>`)}
  !${scripts.map((file) => html`<script type="module" src="${assetPath(file)}"></script>`)}
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  !${user === undefined ? '' : header(user, at)}
  <main id="main" tabindex="-1">!${main}</main>
</body>
</html>
`;
}

function header({ name, role }: User, at: string | undefined): string {
  return html`<header>
    <a class="brand" href="/"><img src="${assetPath('leaf.svg')}" alt="" width="28" height="28"> Plant Store</a>
    <nav aria-label="Console">
      !${NAVIGATION.map(({ href, label }) => html`<a href="${href}" !${href === at ? 'aria-current="page"' : ''}>${label}</a>`)}
    </nav>
    <form class="who" method="post" action="/sign-out">
      <span title="Signed in as ${name}, ${role}">${name} <small>${role}</small></span>
      <button class="quiet">Sign out</button>
      <button class="quiet" formaction="/sign-out-everywhere" title="Ends your sessions in all browsers">Sign out everywhere</button>
    </form>
  </header>`;
}
