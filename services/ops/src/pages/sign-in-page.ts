import { html } from 'ghtml';
import { assetPath } from '../http/assets.ts';
import { layout } from './layout.ts';

/** @param problem what was wrong with the last try, for which the name is kept and the password is not. */
export function signInPage({ name = '', problem }: { name?: string; problem?: string }): string {
  return layout({
    title: 'Sign in',
    main: html`<form class="sign-in" method="post" action="/sign-in">
      <img src="${assetPath('leaf.svg')}" alt="" width="56" height="56">
      <h1>Plant Store</h1>
      <p class="muted">For those who run it.</p>
      !${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
      <label>Name
        <input name="name" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false"
          maxlength="64" required !${name === '' ? 'autofocus' : ''}>
      </label>
      <label>Password
        <input name="password" type="password" autocomplete="current-password" required
          !${name === '' ? '' : 'autofocus'}>
      </label>
      <button>Sign in</button>
    </form>`,
  });
}
