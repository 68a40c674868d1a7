import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import type {
  FailedJobs,
  FailureGroup,
  Failures,
  PoisonPlant,
  QuarantinedPlant,
} from '../failures/read-failures.ts';
import { age, count } from '../status/figures.ts';
import { layout } from './layout.ts';
import { exactJson, recordJson } from './record-json.ts';

/** Of each group these are shown; as they are mended, others take their place. */
const PLANTS_SHOWN_MAX = 20;
const QUARANTINED_SHOWN_MAX = 100;

/** What cannot be processed, by reason, and what can be done about it. Viewers see it; the controls refuse them. */
export function failuresPage(user: User, failures: Failures, now: Date): string {
  const { groups, otherJobs, quarantined, isPartial, jobsRead } = failures;
  const plants = groups.reduce((sum, group) => sum + group.plants.length, 0);
  return layout({
    title: 'Failures',
    user,
    at: '/failures',
    styles: ['plants.css'],
    main: html`
    <h1>${headline(plants, groups.length)}</h1>
    <p class="muted">These plants are stored and stay pending. All others are processed; workers retry these with pauses that grow to 10 minutes, so a plant that was mended is processed by itself.</p>
    !${isPartial ? html`<p class="problem">There are more than this page reads: as some are mended or quarantined, others appear.</p>` : ''}
    !${jobsRead ? '' : html`<p class="problem">Redis is unreachable: failed jobs cannot be shown, and plants are judged by their documents alone.</p>`}
    !${groups.map((group) => groupSection(group, now))}
    !${otherJobs.length === 0 ? '' : otherJobsSection(otherJobs)}
    !${
      quarantined === undefined
        ? html`<p class="problem">Plants in quarantine cannot be read: see the status page for what is missing.</p>`
        : quarantineSection(quarantined, now)
    }`,
  });
}

function headline(plants: number, reasons: number): string {
  if (plants === 0) return 'Every plant can be processed';
  const words = reasons === 1 ? 'one reason' : `${count(reasons)} reasons`;
  return `${plantsInWords(plants)} cannot be processed, for ${words}`;
}

function plantsInWords(plants: number): string {
  return plants === 1 ? '1 plant' : `${count(plants)} plants`;
}

function groupSection({ reason, plants, jobs, lastFailed }: FailureGroup, now: Date): string {
  const [oldest] = plants;
  const shown = plants.slice(0, PLANTS_SHOWN_MAX);
  const more = plants.length - shown.length;
  const matching = new URLSearchParams({ matching: reason });
  return html`<section class="failure-group" data-reason="${reason}">
      <h2><span>${reason}</span> <span data-count>${plantsInWords(plants.length)}</span></h2>
      <p class="muted">The oldest was created !${since(oldest?.since, now)}. ${tried(jobs, lastFailed)}</p>
      <p class="buttons"><a href="/controls/retry?${matching}">Retry all</a> <a href="/controls/quarantine?${matching}">Quarantine all</a></p>
      !${shown.map((plant) => plantPanel(plant))}
      !${more > 0 ? html`<p class="muted">and ${count(more)} more</p>` : ''}
    </section>`;
}

function tried(jobs: number, lastFailed: Date | undefined): string {
  if (jobs === 0) return 'No failed job names them now: they are being retried, or will be.';
  const last = lastFailed === undefined ? '' : `, last at ${shownTime(lastFailed)}`;
  return `${jobs === 1 ? '1 job has' : `${count(jobs)} jobs have`} failed${last}.`;
}

function plantPanel({ id, field, document }: PoisonPlant): string {
  return html`<details class="panel" data-plant="${id ?? ''}">
        <summary>${id === undefined ? 'A document whose _id is no int64' : `Plant ${id}`}!${wrongValue(field, document)}</summary>
        !${
          id === undefined
            ? html`<p class="muted">Mend or remove it in MongoDB.</p>`
            : html`<p class="buttons"><a href="/plants/${id}">Its story</a> <a href="/controls/retry?plant=${id}">Retry</a> <a href="/controls/quarantine?plant=${id}">Quarantine</a></p>`
        }
        <pre class="record">!${recordJson(document, field)}</pre>
      </details>`;
}

function wrongValue(field: string | undefined, document: Record<string, unknown>): string {
  if (field === undefined) return '';
  let value: unknown = document;
  for (const member of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[member];
  return html` <span class="muted">${field} is ${exactJson(value).slice(0, 80).toWellFormed()}</span>`;
}

function otherJobsSection(jobs: readonly FailedJobs[]): string {
  return html`<section>
      <h2>Failed jobs without such a plant <a href="/queue?status=failed">Open the board</a></h2>
      <div class="panel">
        <table class="text">
          <caption class="unseen">Failed jobs by reason</caption>
          <thead><tr><th scope="col">Reason</th><th scope="col">Jobs</th><th scope="col">Last failed</th><th scope="col">Action</th></tr></thead>
          <tbody>!${jobs.map(
            ({ reason, jobs: number, lastFailed }) =>
              html`<tr><td>${reason === '' ? 'no reason is stored' : reason}</td><td>${count(number)}</td><td>${lastFailed === undefined ? '' : shownTime(lastFailed)}</td><td>!${reason === '' ? '' : html`<a href="/controls/retry?${new URLSearchParams({ matching: reason })}">Retry</a>`}</td></tr>`,
          )}</tbody>
        </table>
      </div>
    </section>`;
}

function quarantineSection(quarantined: readonly QuarantinedPlant[], now: Date): string {
  const shown = quarantined.slice(0, QUARANTINED_SHOWN_MAX);
  const more = quarantined.length - shown.length;
  return html`<section>
      <h2>In quarantine <span data-quarantined>${plantsInWords(quarantined.length)}</span></h2>
      <div class="panel">!${
        shown.length === 0
          ? html`<p class="muted">None.</p>`
          : html`<table class="text">
          <caption class="unseen">Quarantined plants, the newest quarantine first</caption>
          <thead><tr><th scope="col">Plant</th><th scope="col">Since</th><th scope="col">By</th><th scope="col">Reason</th><th scope="col">Action</th></tr></thead>
          <tbody>!${shown.map((plant) => quarantineRow(plant, now))}</tbody>
        </table>`
      }</div>
      !${more > 0 ? html`<p class="muted">and ${count(more)} more</p>` : ''}
    </section>`;
}

function quarantineRow({ id, quarantine }: QuarantinedPlant, now: Date): string {
  const { reason = '', by = '', since: at } = quarantine;
  return html`<tr><th scope="row"><a href="/plants/${id}">${id}</a></th><td>!${since(at, now)}</td><td>${by}</td><td>${reason}</td><td><a href="/controls/release?plant=${id}">Release</a> !${reason === '' ? '' : html`<a href="/controls/release?${new URLSearchParams({ matching: reason })}">Release all of this reason</a>`}</td></tr>`;
}

function since(at: unknown, now: Date): string {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) return 'at an unknown time';
  return html`<time datetime="${at.toISOString()}">${shownTime(at)}</time>, ${age(now.getTime() - at.getTime())} ago`;
}

function shownTime(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}
