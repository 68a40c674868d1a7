import type { UIConfig } from '@bull-board/api/typings/app';
import { assetPath } from '../http/assets.ts';

/** Seconds between the board's own refreshes. */
const POLL_S = 5;

const fonts = {
  'font-sans': 'system-ui, sans-serif',
  'font-mono': 'ui-monospace, monospace',
} as const;

/** Bull Board in the console's colours, with the way back and without links to elsewhere. */
export const boardAppearance: UIConfig = {
  boardTitle: 'Plant Store',
  boardLogo: { path: assetPath('leaf.svg'), width: 28, height: 28 },
  favIcon: { default: assetPath('leaf.svg'), alternative: assetPath('leaf.svg') },
  miscLinks: [{ text: 'Status', url: '/' }],
  environment: { label: 'read only', color: '#5d6b62', textColor: '#ffffff' },
  hideDocsLink: true,
  pollingInterval: { forceInterval: POLL_S },
  locale: { lng: 'en-US' },
  theme: {
    light: { ...fonts, primary: '#2f7d4f', ring: '#2f7d4f', 'sidebar-primary': '#2f7d4f' },
    dark: {
      ...fonts,
      primary: '#74cf98',
      'primary-foreground': '#0f1512',
      ring: '#74cf98',
      'sidebar-primary': '#74cf98',
    },
  },
};
