// Draws the last hour. Every plot shows the same time, and pointing at one points at all of them; the slider does the
// same for the keyboard. The figures beside the names are the newest ones, or those at the time that is pointed at.
import { figure } from './format.js';
import { setText } from './set-text.js';

const { uPlot } = globalThis;
const KEPT_MS = 3_600_000;
// Before there is more to show, an empty minute stands at the left.
const SHOWN_MS_MIN = 60_000;
const BACK_S_MAX = 3_600;

const section = document.querySelector('[data-plots]');
const ranges = [...document.querySelectorAll('[name=range]')];
const slider = document.querySelector('[data-slider]');
const pointedTime = document.querySelector('[data-pointed]');

const figures = [...(section?.querySelectorAll('[data-plot]') ?? [])];
const plots = figures.map((element) => ({
  element,
  keys: [...element.querySelectorAll('[data-series]')],
  columns: [],
  drawn: undefined,
}));
let times = [];
let events = [];
let rangeMs = KEPT_MS;
let colours = new Map();

export function newestSample() {
  return times.at(-1) ?? 0;
}

export function sampleCount() {
  return times.length;
}

/** Adds samples to those shown: columns of all series, in the order of the page. */
export function showSamples({ at, values }) {
  if (at.length === 0) return;
  const from = at.at(-1) - KEPT_MS;
  const kept = times.findIndex((time) => time > from);
  const keep = (column, more) => [...(kept < 0 ? [] : column.slice(kept)), ...more];
  times = keep(times, at);
  let column = 0;
  for (const plot of plots) {
    plot.columns = plot.keys.map((_, index) => keep(plot.columns[index] ?? [], values[column++]));
  }
  draw();
}

/** Marks what happened: a line where it began, and a band as long as it lasted. */
export function showEvents(list) {
  events = list;
  for (const { drawn } of plots) drawn?.redraw(false);
}

function draw() {
  const seconds = times.map((time) => time / 1_000);
  for (const plot of plots) {
    plot.drawn ??= created(plot);
    plot.drawn.setData([seconds, ...plot.columns]);
  }
  showPointed();
}

function shownRange() {
  const to = newestSample();
  const from = Math.max(to - rangeMs, Math.min(times[0] ?? to, to - SHOWN_MS_MIN));
  return [from / 1_000, to / 1_000];
}

function created({ element, keys }) {
  const canvas = element.querySelector('[data-canvas]');
  const units = [...new Set(keys.map(({ dataset }) => dataset.unit))];
  const plot = new uPlot(
    {
      ...sizeOf(canvas),
      padding: [8, units.length > 1 ? 0 : 10, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'console' }, points: { size: 7 } },
      scales: {
        x: { time: true, range: shownRange },
        ...Object.fromEntries(units.map((unit) => [unit, { range: (_plot, _min, max) => [0, top(max)] }])),
      },
      axes: [
        {
          ...axis(),
          size: 26,
          space: 48,
          values: (_plot, splits, _axis, _space, step) =>
            splits.map((second) => clock(second * 1_000).slice(0, step < 60 ? 8 : 5)),
        },
        ...units.map((unit, index) => ({
          ...axis(),
          scale: unit,
          side: index === 0 ? 3 : 1,
          size: 52,
          gap: 4,
          grid: { ...axis().grid, show: index === 0 },
          values: (_plot, splits) => splits.map((value) => figure(value, unit)),
        })),
      ],
      series: [
        {},
        ...keys.map(({ dataset: { unit, colour } }, index) => {
          const stroke = () => colourOf(`--series-${colour}`);
          return {
            scale: unit,
            width: 1.5,
            stroke,
            fill: index === 0 ? () => translucent(stroke(), 0.12) : undefined,
            dash: unit === units[0] ? undefined : [5, 4],
            paths: unit === 'processes' ? uPlot.paths.stepped({ align: 1 }) : undefined,
            points: { show: false, filter: lonely, size: 4, width: 0, fill: stroke },
          };
        }),
      ],
      hooks: { drawClear: [drawEvents], setCursor: [showPointed] },
    },
    [[], ...keys.map(() => [])],
    canvas,
  );
  new ResizeObserver(() => plot.setSize(sizeOf(canvas))).observe(canvas);
  return plot;
}

// A value between two gaps has no line: it is drawn as a point.
function lonely({ data }, series) {
  const column = data[series];
  const points = [...column.keys()].filter(
    (index) => column[index] !== null && (column[index - 1] ?? column[index + 1] ?? null) === null,
  );
  return points.length > 0 ? points : null;
}

function sizeOf(canvas) {
  return { width: canvas.clientWidth, height: canvas.clientHeight };
}

// Room above the highest value; an empty plot still has a scale.
function top(max) {
  return max > 0 ? max * 1.08 : 1;
}

function axis() {
  const line = { stroke: () => colourOf('--line'), width: 1 };
  return {
    stroke: () => colourOf('--muted'),
    font: '11px system-ui, sans-serif',
    grid: line,
    ticks: { ...line, size: 4 },
    border: { show: false },
  };
}

function drawEvents(plot) {
  const { ctx, bbox } = plot;
  const [from, to] = [plot.scales.x.min * 1_000, plot.scales.x.max * 1_000];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { at, until, level } of events) {
    const end = until === undefined ? at : (until ?? to);
    if (end < from || at > to) continue;
    const left = plot.valToPos(at / 1_000, 'x', true);
    const width = plot.valToPos(end / 1_000, 'x', true) - left;
    const colour = colourOf(`--${level}`);
    ctx.fillStyle = translucent(colour, 0.13);
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.fillStyle = translucent(colour, 0.75);
    ctx.fillRect(left, bbox.top, devicePixelRatio, bbox.height);
  }
  ctx.restore();
}

// The figures at the time that is pointed at, by pointer or slider; else the newest ones.
function showPointed() {
  const index = plots[0]?.drawn?.cursor.idx ?? pointedIndex();
  const at = index ?? times.length - 1;
  for (const { keys, columns } of plots) {
    for (const [series, key] of keys.entries()) {
      setText(key.querySelector('[data-value]'), figure(columns[series]?.[at], key.dataset.unit));
    }
  }
  if (pointedTime === null || times.length === 0) return;
  setText(pointedTime, index === null ? 'now' : `${clock(times[at])} UTC`);
}

// The sample that the slider points at; null at its right end, which means the newest.
function pointedIndex() {
  const back = BACK_S_MAX - Number(slider?.value ?? BACK_S_MAX);
  if (back <= 0 || times.length === 0) return null;
  const [from, to] = shownRange();
  const time = to - (back / BACK_S_MAX) * (to - from);
  const index = times.findIndex((each) => each >= time * 1_000);
  return index < 0 ? null : index;
}

slider?.addEventListener('input', () => {
  const index = pointedIndex();
  const [first] = plots;
  if (first?.drawn === undefined) return;
  const left = index === null ? -10 : first.drawn.valToPos(times[index] / 1_000, 'x');
  first.drawn.setCursor({ left, top: left < 0 ? -10 : 1 }, true, true);
  slider.setAttribute('aria-valuetext', pointedTime?.textContent ?? '');
});

for (const input of ranges) {
  input.addEventListener('change', () => {
    rangeMs = Number(input.value) * 60_000;
    draw();
  });
  if (input.checked) rangeMs = Number(input.value) * 60_000;
}

// Colours are those of the style sheet, which depend on the scheme; a canvas needs them resolved.
const probe = document.createElement('span');
probe.hidden = true;
document.body.append(probe);

function colourOf(name) {
  if (!colours.has(name)) {
    probe.style.color = `var(${name})`;
    colours.set(name, getComputedStyle(probe).color);
  }
  return colours.get(name);
}

function translucent(colour, share) {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  colours = new Map();
  for (const { drawn } of plots) drawn?.redraw(false, true);
});

function clock(time) {
  return new Date(time).toISOString().slice(11, 19);
}
