// Keeps a page current. While somebody looks, the console sends every reading (server-sent events); while the tab is
// hidden, only its title is kept up, so that forgotten tabs hold no connection. Seen again, it asks for what it missed.
import { showEvents as drawEvents, newestSample, showSamples } from './plots.js';
import { showStale, showStatus } from './status.js';
import { showEvents } from './timeline.js';

// The console sends a reading every 2 s: after two missing ones something is wrong.
const SILENCE_MS = 6_000;
const HIDDEN_PERIOD_MS = 15_000;
const REFUSED_PERIOD_MS = 5_000;
const TIMEOUT_MS = 4_000;

let stream;
let heardAt = performance.now();
let refusedTimer;

function listen() {
  stop();
  if (document.visibilityState === 'hidden') return;
  heardAt = performance.now();
  stream = new EventSource(`/live?after=${newestSample()}`);
  stream.addEventListener('message', ({ data }) => {
    const { status, samples, events } = JSON.parse(data);
    heard(status);
    if (events !== undefined) {
      showEvents(events);
      drawEvents(events);
    }
    showSamples(samples);
  });
  stream.addEventListener('signed-out', leave);
  stream.addEventListener('error', () => {
    // A lost connection is opened again by the browser itself, a refused one is not.
    if (stream.readyState === EventSource.CLOSED) void refused();
  });
}

function stop() {
  stream?.close();
  clearTimeout(refusedTimer);
}

async function refused() {
  const closed = stream;
  await ask();
  // Meanwhile the tab may have been hidden, or hidden and seen again.
  if (stream !== closed || document.visibilityState === 'hidden') return;
  refusedTimer = setTimeout(listen, REFUSED_PERIOD_MS);
}

async function ask() {
  try {
    const answer = await fetch('/status', {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status === 401) leave();
    else if (answer.ok) heard(await answer.json());
  } catch {
    // Without an answer, the figures are called old below.
  }
}

function heard(status) {
  heardAt = performance.now();
  showStatus(status);
}

function leave() {
  stop();
  location.assign('/sign-in');
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') listen();
  else stop();
});
setInterval(() => {
  if (document.visibilityState === 'hidden') void ask();
}, HIDDEN_PERIOD_MS);
setInterval(() => {
  const silence = document.visibilityState === 'hidden' ? HIDDEN_PERIOD_MS * 5 : SILENCE_MS;
  if (performance.now() - heardAt > silence) showStale();
}, 1_000);
listen();
