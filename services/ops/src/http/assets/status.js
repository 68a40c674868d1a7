// Shows the status in words. Texts change in place, so that focus, selection and scrolling stay where they are.
import { setText } from './set-text.js';

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
  showFindings(status.findings);
  for (const [name, fact] of Object.entries(status.facts)) {
    for (const element of document.querySelectorAll(`[data-fact="${name}"]`)) {
      element.dataset.level = fact.level ?? 'good';
      setText(element.querySelector('[data-text]'), fact.text);
      setText(element.querySelector('[data-note]'), fact.note ?? '');
    }
  }
  showRows(workers, noWorkers, status.workers.map(workerRow));
  showRows(chains, noChains, status.chains.map(chainRow));
}

// Not every live page has the tables and the findings.
function showRows(table, none, rows) {
  table?.replaceChildren(...rows);
  if (none !== null) none.hidden = rows.length > 0;
}

function showVerdict({ level, title, headline, advice }) {
  document.title = `${title} · Plant Store`;
  verdict.dataset.level = level;
  setText(verdict.querySelector('[data-headline]'), headline);
  setText(verdict.querySelector('[data-advice]'), advice);
}

// A finding that stays keeps its element: only its texts change.
function showFindings(list) {
  if (findings === null) return;
  const shown = new Map([...findings.children].map((element) => [element.dataset.key, element]));
  findings.replaceChildren(...list.map((finding) => findingCard(shown.get(finding.key), finding)));
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

function workerRow({ name, state, level, progress, jobs, up, version }) {
  const row = document.createElement('tr');
  row.dataset.level = level;
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = name;
  row.append(head);
  for (const text of [state, progress, jobs, up, version]) row.insertCell().textContent = text;
  return row;
}

function chainRow({ chain, height, entries, sealed }) {
  const row = document.createElement('tr');
  for (const text of [chain, height, entries, sealed]) row.insertCell().textContent = text;
  return row;
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
