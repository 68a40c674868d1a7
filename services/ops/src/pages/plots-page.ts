import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { layout } from './layout.ts';
import { type LiveParts, liveAssets, plotsSection, timelineSection, verdictSection } from './live-parts.ts';

/** As many as the console keeps. */
const EVENTS_SHOWN = 200;

/** The plots alone and large, for a screen on the wall, and everything that happened within the hour. */
export function plotsPage(user: User, { words, plots, newest, events }: LiveParts): string {
  return layout({
    title: words.verdict.title,
    user,
    at: '/plots',
    ...liveAssets,
    main: html`<div class="large">
    !${verdictSection(words)}
    !${plotsSection(plots, newest, 60)}
    !${timelineSection(events, EVENTS_SHOWN)}
    </div>`,
  });
}
