// Shows the status in words. Texts change in place, so that focus, selection and scrolling stay where they are.
import { setText } from './set-text.js';
import { showList } from './show-list.js';

const verdict = document.querySelector('[data-verdict]');
const findings = document.querySelector('[data-findings]');
const findingTemplate = document.querySelector('[data-finding-template]');
const chains = document.querySelector('[data-chains]');
const noChains = document.querySelector('[data-no-chains]');
const workers = document.querySelector('[data-workers]');
const noWorkers = document.querySelector('[data-no-workers]');
const freshness = document.querySelector('[data-freshness]');

export function showStatus(status) {
  document.body.classList.remove('stale');
  setText(freshness, `Live · ${new Date().toISOString().slice(11, 19)} UTC`);
  showVerdict(status.verdict);
  if (findings !== null) showList(findings, status.findings, ({ key }) => key, findingCard);
  for (const [name, fact] of Object.entries(status.facts)) {
    for (const element of document.querySelectorAll(`[data-fact="${name}"]`)) {
      element.dataset.level = fact.level ?? 'good';
      setText(element.querySelector('[data-text]'), fact.text);
      setText(element.querySelector('[data-note]'), fact.note ?? '');
    }
  }
  // Not every live page has the tables.
  if (workers !== null) showRows(workers, noWorkers, status.workers.map(workerTexts));
  if (chains !== null) showRows(chains, noChains, status.chains.map(chainTexts));
}

function showRows(body, none, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  for (const [index, { level, texts }] of rows.entries()) {
    const row = body.rows[index] ?? addRow(body, texts.length);
    if (level !== undefined) row.dataset.level = level;
    for (const [column, text] of texts.entries()) setText(row.cells[column], text);
  }
  none.hidden = rows.length > 0;
}

function addRow(body, columns) {
  const row = body.insertRow();
  const head = document.createElement('th');
  head.scope = 'row';
  row.append(head);
  while (row.cells.length < columns) row.insertCell();
  return row;
}

function showVerdict({ level, title, headline, advice }) {
  document.title = `${title} · Plant Store`;
  verdict.dataset.level = level;
  setText(verdict.querySelector('[data-headline]'), headline);
  setText(verdict.querySelector('[data-advice]'), advice);
}

function findingCard(element = findingTemplate.content.firstElementChild.cloneNode(true), finding) {
  element.dataset.key = finding.key;
  element.dataset.level = finding.level;
  setText(element.querySelector('h2'), finding.headline);
  for (const name of ['since', 'cause', 'affected', 'action']) {
    setText(element.querySelector(`[data-${name}]`), finding[name]);
  }
  element.querySelector('a').setAttribute('href', finding.runbook);
  return element;
}

function workerTexts({ name, state, level, progress, jobs, up, version }) {
  return { level, texts: [name, state, progress, jobs, up, version] };
}

function chainTexts({ chain, height, entries, sealed }) {
  return { texts: [chain, height, entries, sealed] };
}

// Old figures must not go on saying that all is well.
export function showStale() {
  if (document.body.classList.contains('stale')) return;
  document.body.classList.add('stale');
  showVerdict({
    level: 'bad',
    title: '✖ The console does not answer',
    headline: 'The console does not answer',
    advice: 'What stands below is old. The page goes on asking and recovers by itself.',
  });
  freshness.textContent = freshness.textContent.replace('Live', 'Last answer');
}
