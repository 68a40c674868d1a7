// Figures for people. The server imports this file as well, so that a page shows the same before and after its script
// runs.
const plain = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3, useGrouping: false });
const compact = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3, notation: 'compact' });

export function figure(value, unit) {
  if (value === null || value === undefined) return '–';
  if (unit === 'ms' && value >= 1_000) return figure(value / 1_000, 's');
  if (unit === 's' && value >= 120) return `${plain.format(value / 60)} min`;
  const digits = value >= 1_000 ? compact.format(value).replace('K', 'k') : plain.format(round(value));
  if (unit === '/s') return `${digits}/s`;
  return unit === 'ms' || unit === 's' ? `${digits} ${unit}` : digits;
}

// More digits are noise in every unit that is drawn.
function round(value) {
  const parts = value < 1 ? 100 : value < 10 ? 10 : 1;
  return Math.round(value * parts) / parts;
}
