/** One page of the console's navigation. */
export type NavigationEntry = { href: string; label: string };

/** The navigation of every page, in the order in which it is shown. A page names its own entry by `at`. */
export const NAVIGATION: readonly NavigationEntry[] = [
  { href: '/', label: 'Status' },
  { href: '/plots', label: 'Plots' },
  { href: '/plants', label: 'Plants' },
  { href: '/failures', label: 'Failures' },
  { href: '/queue', label: 'Queue' },
  { href: '/controls', label: 'Controls' },
  { href: '/runbook', label: 'Runbook' },
  { href: '/api', label: 'API' },
];
