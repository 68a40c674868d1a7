import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import type { Fact, FactName, FindingWords, StatusWords } from '../status/status-words.ts';
import { layout } from './layout.ts';
import { type LiveParts, liveAssets, plotsSection, timelineSection, verdictSection } from './live-parts.ts';

/** Enough to see what changed last; the page of the plots lists all. */
const EVENTS_SHOWN = 8;
const MINUTES_SHOWN = 15;

/** The system at a glance. The scripts refresh the elements with `data-` names; it is readable without scripts. */
export function statusPage(user: User, { words, plots, newest, events }: LiveParts): string {
  const { verdict, findings, facts, workers, chains } = words;
  return layout({
    title: verdict.title,
    user,
    at: '/',
    ...liveAssets,
    main: html`
    !${verdictSection(words)}

    <section class="findings" aria-label="What is wrong" data-findings>!${findings.map(findingCard)}</section>

    <section class="cards" aria-label="Plants and workers">
      !${card('Plants stored', 'plants', facts)}
      !${card('Pending', 'pending', facts)}
      !${card('Oldest waiting job', 'oldestWaiting', facts)}
      !${card('Workers', 'workers', facts)}
    </section>

    !${plotsSection(plots, newest, MINUTES_SHOWN)}

    <div class="columns">
    <div>
    <section>
      <h2>Workers</h2>
      <div class="panel" tabindex="0" role="region" aria-label="Workers">
        <table>
          <caption class="unseen">Each worker and its last progress</caption>
          <thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Last batch</th><th scope="col">Jobs in hand</th><th scope="col">Up for</th><th scope="col">Version</th></tr></thead>
          <tbody data-workers>!${workers.map(workerRow)}</tbody>
        </table>
        <p class="muted" data-no-workers !${workers.length === 0 ? '' : 'hidden'}>No worker reports.</p>
      </div>
    </section>

    <section>
      <h2>Queue <a href="/queue">Open the board</a></h2>
      <div class="states">
        !${state('Waiting', 'waiting', facts)}
        !${state('Active', 'active', facts)}
        !${state('Delayed', 'delayed', facts)}
        !${state('Failed', 'failed', facts)}
      </div>
    </section>

    <section>
      <h2>Audit</h2>
      <div class="panel" tabindex="0" role="region" aria-label="Audit">
        <table>
          <caption class="unseen">The newest block of each chain</caption>
          <thead><tr><th scope="col">Chain</th><th scope="col">Height</th><th scope="col">Entries</th><th scope="col">Sealed</th></tr></thead>
          <tbody data-chains>!${chains.map(chainRow)}</tbody>
        </table>
        <p class="muted" data-no-chains !${chains.length === 0 ? '' : 'hidden'}>No audit block to show.</p>
      </div>
    </section>
    </div>
    !${timelineSection(events, EVENTS_SHOWN)}
    </div>
    <template data-finding-template>!${findingCard(emptyFinding)}</template>`,
  });
}

/** What the script clones for a finding that appears later. */
const emptyFinding: FindingWords = {
  key: '',
  level: 'warn',
  headline: '',
  since: '',
  cause: '',
  affected: '',
  action: '',
  runbook: '/runbook',
};

function findingCard(finding: FindingWords): string {
  const { key, level, headline, since, cause, affected, action, runbook } = finding;
  return html`<article class="finding" data-key="${key}" data-level="${level}">
        <h2>${headline}</h2>
        <p class="muted" data-since>${since}</p>
        <dl>
          <dt>Cause</dt><dd data-cause>${cause}</dd>
          <dt>Affected</dt><dd data-affected>${affected}</dd>
          <dt>What to do</dt><dd><span data-action>${action}</span> <a href="${runbook}">Runbook</a></dd>
        </dl>
      </article>`;
}

function card(title: string, name: FactName, facts: Record<FactName, Fact>): string {
  const { text, note = '', level = 'good' } = facts[name];
  return html`<div class="card" data-fact="${name}" data-level="${level}">
        <h2>${title}</h2>
        <p class="figure" data-text>${text}</p>
        <p class="muted" data-note>${note}</p>
      </div>`;
}

function state(title: string, name: FactName, facts: Record<FactName, Fact>): string {
  const { text, level = 'good' } = facts[name];
  return html`<a class="state" href="/queue?status=${name}" data-fact="${name}" data-level="${level}">
          <span class="figure" data-text>${text}</span> <span class="muted">${title}</span>
        </a>`;
}

function workerRow({
  name,
  state,
  level,
  progress,
  jobs,
  up,
  version,
}: StatusWords['workers'][number]): string {
  return html`<tr data-level="${level}"><th scope="row">${name}</th><td>${state}</td><td>${progress}</td><td>${jobs}</td><td>${up}</td><td>${version}</td></tr>`;
}

function chainRow({ chain, height, entries, sealed }: StatusWords['chains'][number]): string {
  return html`<tr><th scope="row">${chain}</th><td>${height}</td><td>${entries}</td><td>${sealed}</td></tr>`;
}
