import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import type { PlantStory, Publication } from '../plants/plant-story.ts';
import { layout } from './layout.ts';
import { exactJson, recordJson } from './record-json.ts';

/** Everything there is to know about one plant; viewers see all of it. */
export function plantPage(user: User, story: PlantStory): string {
  const { plant, state, quarantine, fault, records, anchor } = story;
  const id = plant.id;
  return layout({
    title: `Plant ${id}`,
    user,
    at: '/plants',
    styles: ['plants.css'],
    main: html`
    <h1>Plant ${id}</h1>
    <p class="muted">!${stateWords(story)}</p>
    !${fault === undefined ? '' : html`<p class="problem" data-fault>No worker can process it: ${fault.rule}. Mend the document in MongoDB; it is then processed by itself.</p>`}
    !${
      quarantine === undefined
        ? ''
        : html`<p class="effect" data-quarantine>In quarantine since ${text(quarantine.since)}, by ${text(quarantine.by)}: ${text(quarantine.reason)}</p>`
    }
    !${state === 'processed' ? '' : html`<p class="buttons">!${actions(story)}</p>`}

    <section>
      <h2>What happened</h2>
      <div class="panel">
        <table class="text" data-story>
          <caption class="unseen">Each step with its time and the time since the step before</caption>
          <thead><tr><th scope="col">Step</th><th scope="col">When (UTC)</th><th scope="col">After the step before</th><th scope="col">Known from</th></tr></thead>
          <tbody>!${steps(story).map(stepRow)}</tbody>
        </table>
      </div>
    </section>

    <section>
      <h2>Who, and from where</h2>
      <div class="panel"><dl class="facts">!${origin(story).map(([name, value]) => html`<dt>${name}</dt><dd>!${value}</dd>`)}</dl></div>
    </section>

    <section>
      <h2>Proof</h2>
      <div class="panel">!${anchor === undefined ? html`<p class="muted" data-no-proof>${noProof(story)}</p>` : proof(story)}</div>
    </section>

    !${record('Stored document', 'document', records.document, fault?.field)}
    !${record('Index entry', 'index', records.index)}
    !${record('Audit entry', 'audit', records.audit)}
    !${record('Audit block', 'block', records.block === undefined ? undefined : { hash: story.block?.hash, ...records.block })}`,
  });
}

function stateWords({ state, times }: PlantStory): string {
  if (state === 'processed') return 'Stored, indexed and audited.';
  if (state === 'quarantined') return 'Stored and in quarantine: neither workers nor the relay touch it.';
  const done = [times.indexed && 'indexed', times.audited && 'audited'].filter(Boolean);
  return done.length === 0
    ? 'Stored, and pending: it is neither indexed nor audited yet.'
    : `Stored and ${done.join(' and ')}; its pending flag is still set.`;
}

function actions({ state, plant }: PlantStory): string {
  const { id } = plant;
  if (state === 'quarantined')
    return html`<a href="/controls/release?plant=${id}">Release from quarantine</a>`;
  return html`<a href="/controls/retry?plant=${id}">Retry its job</a> <a href="/controls/quarantine?plant=${id}">Quarantine</a>`;
}

type Step = { name: string; when: string; gap: string; source: string };

function steps({ times, block, anchor, state }: PlantStory): Step[] {
  const { created, published, indexed, audited, anchored } = times;
  const waiting = state === 'processed' ? 'not recorded' : 'not yet';
  return [
    { name: 'created', when: instant(created) ?? 'unknown', gap: '', source: 'the API’s clock' },
    {
      name: 'published',
      when: published === undefined ? 'unknown: no job in Redis names its commit' : publishedWords(published),
      gap: published === undefined ? '' : publishedGap(created, published),
      source: published === undefined ? '' : publicationSources[published.source],
    },
    {
      name: 'indexed',
      when: instant(indexed) ?? waiting,
      gap: gap(published?.source === 'bounds' ? created : published?.latest, indexed),
      source: 'the worker’s clock, or that of the last reindex',
    },
    {
      name: 'audited',
      when: instant(audited) ?? waiting,
      gap: gap(indexed, audited),
      source: block === undefined ? '' : `the clock of ${block.sealer}`,
    },
    {
      name: 'anchored',
      when: instant(anchored) ?? 'not yet',
      gap: gap(audited, anchored),
      source: anchor === undefined ? '' : `anchor ${anchor.sequence}`,
    },
  ];
}

const publicationSources = {
  job: 'its job, which is in Redis',
  block: 'its audit block',
  bounds: 'nobody recorded it: it is between its creation and its block',
} as const;

function stepRow({ name, when, gap, source }: Step): string {
  return html`<tr data-step="${name}"><th scope="row">${name}</th><td>${when}</td><td>${gap}</td><td>${source}</td></tr>`;
}

/**
 * The time of publication in words that claim no more than is known.
 * @param show writes a time
 */
export function publishedWords(
  { earliest, latest, source }: Publication,
  show: (time: Date) => string = instant,
): string {
  if (source === 'bounds') return `at or before ${show(latest)}`;
  return earliest.getTime() === latest.getTime()
    ? show(latest)
    : `between ${show(earliest)} and ${show(latest)}`;
}

function publishedGap(created: Date | undefined, { earliest, latest, source }: Publication): string {
  if (source === 'bounds') return `at most ${gap(created, latest)}`;
  const [least, most] = [gap(created, earliest), gap(created, latest)];
  return least === most ? most : `${least} to ${most}`;
}

function origin({ plant, block }: PlantStory): [string, string][] {
  const { by, from, commit } = plant;
  const rows: [string, string | undefined][] = [
    ['subject', link('subject', by?.sub)],
    ['issuer', by?.iss === undefined ? undefined : text(by.iss)],
    ['token', by?.jti === undefined ? undefined : text(by.jti)],
    ['address', text(from?.address)],
    ['API instance', text(from?.instance)],
    [
      'request',
      html`!${link('request', from?.request)} ${from?.requestBy === undefined ? '' : `(chosen by the ${from.requestBy})`}`,
    ],
    ['commit', link('commit', commit)],
    [
      'audit block',
      block &&
        html`chain ${block.chain}, height ${block.height}, entry ${block.index + 1} of ${block.entries}, sealed by ${block.sealer}`,
    ],
    ['block hash', block && html`<code>${block.hash}</code>`],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

function link(field: string, value: unknown): string {
  if (typeof value !== 'string') return text(value);
  return html`<a href="/plants?${new URLSearchParams({ [field]: value })}">${value}</a>`;
}

function proof({ plant, anchor }: PlantStory): string {
  const file = proofFileName(plant.id);
  return html`<p>Anchor ${anchor?.sequence} is signed by the key <code>${anchor?.key}</code>. The proof shows that the plant was audited as it is, before that anchor was made, to anybody who has the public key.</p>
        <p class="buttons"><a href="/plants/${plant.id}/proof" download="${file}">Download the proof (JSON)</a></p>
        <p>To check it, without the database:</p>
        <pre><code>npm run ops -- audit check-proof ${file} --key anchor-key.pub.pem</code></pre>
        <p class="muted">Take the public key from whoever keeps it, not from this system; with <code>npm start</code> it is <code>.local/anchor-key.pub.pem</code>.</p>`;
}

export function proofFileName(id: bigint): string {
  return `plant-${id}-proof.json`;
}

function noProof({ block }: PlantStory): string {
  return block === undefined
    ? 'There is no proof yet: the plant is in no block of the audit log.'
    : 'There is no proof yet: no anchor names its block. One is made each minute where workers have a key (AUDIT_ANCHOR_KEY).';
}

function record(title: string, name: string, value: unknown, wrong?: string): string {
  return html`<section>
      <h2>${title}</h2>
      <div class="panel">!${value === undefined ? html`<p class="muted">There is none.</p>` : html`<pre class="record" data-record="${name}">!${recordJson(value as Record<string, unknown>, wrong)}</pre>`}</div>
    </section>`;
}

function text(value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return typeof value === 'string' ? value : exactJson(value);
}

function instant(time: Date): string;
function instant(time: Date | undefined): string | undefined;
function instant(time: Date | undefined): string | undefined {
  return time?.toISOString().replace('T', ' ').replace('Z', '');
}

/** With milliseconds, and with its sign: clocks of machines may disagree. */
function gap(from: Date | undefined, to: Date | undefined): string {
  if (from === undefined || to === undefined) return '';
  const ms = to.getTime() - from.getTime();
  return ms < 0 ? `${(ms / 1_000).toFixed(3)} s (the clocks disagree)` : `${(ms / 1_000).toFixed(3)} s`;
}
