import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import {
  type Control,
  type ControlInput,
  type ControlName,
  type ControlPlan,
  QUEUE_CONTROLS,
} from '../controls/control.ts';
import { layout } from './layout.ts';

type Controls = Record<ControlName, Control>;

/** @param recent what operators did last; undefined while the audit log does not answer. */
export function controlsPage({
  user,
  controls,
  recent,
}: {
  user: User;
  controls: Controls;
  recent: readonly OperatorEntry[] | undefined;
}): string {
  return layout({
    title: 'Controls',
    user,
    at: '/controls',
    main: html`
    <h1>Controls</h1>
    <p class="muted">Each shows first what it will do, takes a reason, and becomes an entry of the audit log. None can lose a plant.</p>
    <ul class="controls">!${QUEUE_CONTROLS.map((name) => html`<li><a href="/controls/${name}">${controls[name].title}</a></li>`)}</ul>
    <p class="muted">Plants that cannot be processed are retried, quarantined and released under <a href="/failures">Failures</a>.</p>
    <section>
      <h2>What was done, and refused</h2>
      <div class="panel">!${recent === undefined ? html`<p class="muted">The audit log does not answer.</p>` : recentTable(recent)}</div>
    </section>`,
  });
}

function recentTable(recent: readonly OperatorEntry[]): string {
  if (recent.length === 0) return html`<p class="muted">Nothing yet.</p>`;
  return html`<table class="text">
    <caption class="unseen">The newest actions of operators</caption>
    <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Affected</th><th scope="col">Before → after</th><th scope="col">Reason</th></tr></thead>
    <tbody>!${recent.map(recentRow)}</tbody>
  </table>`;
}

function recentRow({ when, who, action, outcome, affected, before, after, reason }: OperatorEntry): string {
  const what = outcome === 'done' ? action : `${action} (${outcome})`;
  const change = before === undefined && after === undefined ? '' : `${before ?? ''} → ${after ?? ''}`;
  return html`<tr data-level="${outcome === 'done' ? 'good' : 'warn'}"><td>${when.toISOString().slice(0, 19).replace('T', ' ')}</td><td>${who.sub}</td><td>${what}</td><td>${affected ?? ''}</td><td>${change}</td><td>${reason ?? ''}</td></tr>`;
}

/** What one control will do, and the form that does it. A new preview after changing a field is a GET. */
export function controlPage({
  user,
  name,
  control,
  input,
  plan,
}: {
  user: User;
  name: ControlName;
  control: Control;
  input: ControlInput;
  plan: ControlPlan;
}): string {
  const mayAct = user.role === 'operator';
  const fields = extraField(name, input);
  return layout({
    title: control.title,
    user,
    at: '/controls',
    main: html`
    <h1>${control.title}</h1>
    <p class="effect" data-effect>${plan.effect}</p>
    <form class="control" method="post" action="/controls/${name}">
      !${fields}
      <label>Reason
        <input name="reason" value="${input.reason}" maxlength="500" required autocomplete="off">
      </label>
      <p class="buttons">
        !${!fields.includes('<label') ? '' : html`<button class="quiet" formmethod="get" formnovalidate>Show what it would do</button>`}
        <button !${mayAct ? '' : 'disabled'}>${control.title}</button>
        <a href="${control.page ?? '/controls'}">Cancel</a>
      </p>
      !${mayAct ? '' : html`<p class="muted">This takes the role operator.</p>`}
    </form>`,
  });
}

function extraField(name: ControlName, { minutes, matching, plant }: ControlInput): string {
  if (plant !== undefined) return html`<input type="hidden" name="plant" value="${plant}">`;
  if (name === 'quarantine' || name === 'release') {
    return html`<input type="hidden" name="matching" value="${matching}">`;
  }
  if (name === 'pause') {
    return html`<label>For how many minutes
        <input name="minutes" type="number" min="1" max="1440" value="${minutes}" required>
      </label>`;
  }
  if (name === 'retry') {
    return html`<label>Only jobs whose reason contains
        <input name="matching" value="${matching}" maxlength="500" autocomplete="off" placeholder="all failed jobs">
      </label>`;
  }
  return '';
}
