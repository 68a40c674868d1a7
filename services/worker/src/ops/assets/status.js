// Keeps the status page current: fetches /status every 2 s while someone looks, and changes text in place, so that
// focus, selection and scrolling stay where they are.
const PERIOD_MS = 2_000;
const TIMEOUT_MS = 4_000;

const verdict = document.querySelector('[data-verdict]');
const chains = document.querySelector('[data-chains]');
const noChains = document.querySelector('[data-no-chains]');
const freshness = document.querySelector('[data-freshness]');

async function refresh() {
  try {
    const answer = await fetch('/status', {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status === 401) return location.assign('/sign-in');
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
    setFresh(true);
  } catch {
    setFresh(false);
  }
}

function show(status) {
  verdict.dataset.level = status.verdict.level;
  setText(verdict.querySelector('[data-headline]'), status.verdict.headline);
  setText(verdict.querySelector('[data-advice]'), status.verdict.advice);
  for (const [name, fact] of Object.entries(status.facts)) {
    for (const element of document.querySelectorAll(`[data-fact="${name}"]`)) {
      element.dataset.level = fact.level ?? 'good';
      setText(element.querySelector('[data-text]'), fact.text);
      setText(element.querySelector('[data-note]'), fact.note ?? '');
    }
  }
  chains.replaceChildren(...status.chains.map(chainRow));
  noChains.hidden = status.chains.length > 0;
}

function chainRow({ chain, height, entries, sealed }) {
  const row = document.createElement('tr');
  for (const text of [chain, height, entries, sealed]) row.insertCell().textContent = text;
  return row;
}

// Unchanged text is left alone: a screen reader announces what is set anew.
function setText(element, text) {
  if (element !== null && element.textContent !== text) element.textContent = text;
}

function setFresh(isFresh) {
  document.body.classList.toggle('stale', !isFresh);
  const time = new Date().toLocaleTimeString();
  if (isFresh) freshness.textContent = `Live · ${time}`;
  else setText(freshness, 'The console does not answer: figures are old. Trying again.');
}

async function keepFresh() {
  if (document.visibilityState === 'visible') await refresh();
  setTimeout(keepFresh, PERIOD_MS);
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void refresh();
});
setTimeout(keepFresh, PERIOD_MS);
