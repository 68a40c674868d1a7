import { html } from 'ghtml';
import type { Plot, Series } from '../history/plots.ts';
import type { EventWords } from '../history/timeline-words.ts';
import { figure } from '../http/assets/format.js';
import type { StatusWords } from '../status/status-words.ts';

/** What the pages with plots show. */
export type LiveParts = {
  words: StatusWords;
  plots: readonly Plot[];
  /** One value for each series of the plots; empty before the first sample. */
  newest: readonly (number | null)[];
  events: readonly EventWords[];
};

/** What a live page loads: the plots' library, and the script that keeps the page current. */
export const liveAssets = {
  styles: ['uPlot.min.css', 'plots.css'],
  libraries: ['uPlot.iife.min.js'],
  scripts: ['live.js'],
};

/** How many minutes back the plots can show. */
const RANGES = [5, 15, 60];

export function verdictSection({ verdict }: StatusWords): string {
  return html`<section class="verdict" data-verdict data-level="${verdict.level}" aria-live="polite">
      <h1><span class="lamp" aria-hidden="true"></span><span data-headline>${verdict.headline}</span></h1>
      <p data-advice>${verdict.advice}</p>
    </section>`;
}

/**
 * The plots, with the newest figure of every series as text: that is all there is without scripts.
 * @param newest one value for each series, in the order of the plots; empty before the first sample
 */
export function plotsSection(
  plots: readonly Plot[],
  newest: readonly (number | null)[],
  minutes: number,
): string {
  const first = plots.map((_, index) =>
    plots.slice(0, index).reduce((count, { series }) => count + series.length, 0),
  );
  return html`<section data-plots aria-labelledby="plots">
      <div class="bar">
        <h2 id="plots">The last hour</h2>
        <p class="muted freshness" data-freshness>As of ${new Date().toISOString().slice(11, 19)} UTC</p>
        <fieldset class="ranges">
          <legend class="unseen">How much of it the plots show</legend>
          !${RANGES.map((range) => html`<label><input type="radio" name="range" value="${range}" !${range === minutes ? 'checked' : ''}><span>${range === 60 ? '1 h' : `${range} min`}</span></label>`)}
        </fieldset>
        <label class="slider">Figures of <span data-pointed>now</span>
          <input type="range" min="0" max="3600" step="10" value="3600" data-slider>
        </label>
      </div>
      <div class="plots">!${plots.map((plot, index) => plotFigure(plot, newest.slice(first[index])))}</div>
    </section>`;
}

function plotFigure({ id, title, series }: Plot, newest: readonly (number | null)[]): string {
  return html`<figure class="plot" data-plot="${id}" aria-labelledby="plot-${id}">
          <figcaption>
            <h3 id="plot-${id}">${title}</h3>
            <ul class="keys">!${series.map((each, index) => seriesKey(each, newest[index]))}</ul>
          </figcaption>
          <div class="canvas" data-canvas aria-hidden="true"></div>
        </figure>`;
}

function seriesKey({ id, label, unit, colour }: Series, value: number | null | undefined): string {
  return html`<li data-series="${id}" data-unit="${unit}" data-colour="${colour}"><span class="swatch" aria-hidden="true"></span>${label} <b data-value>${figure(value, unit)}</b></li>`;
}

/** @param most how many the list shows, the newest first */
export function timelineSection(events: readonly EventWords[], most: number): string {
  return html`<section aria-labelledby="timeline">
      <h2 id="timeline">What happened !${most < events.length ? html`<a href="/plots#timeline">All of the last hour</a>` : ''}</h2>
      <ol class="timeline panel" data-timeline data-most="${most}">!${events.slice(0, most).map(eventItem)}</ol>
      <template data-event-template>!${eventItem(emptyEvent)}</template>
    </section>`;
}

/** What the script clones for an event that happens later. */
const emptyEvent: EventWords = {
  id: '',
  kind: 'restart',
  kindText: '',
  level: 'good',
  text: '',
  at: 0,
  when: '',
  lasted: '',
};

function eventItem({ id, level, at, when, kindText, text, lasted }: EventWords): string {
  return html`<li data-key="${id}" data-level="${level}"><time datetime="${new Date(at).toISOString()}">${when}</time> <span class="kind" data-kind>${kindText}</span> <span data-text>${text}</span> <span class="muted" data-lasted>${lasted}</span></li>`;
}
