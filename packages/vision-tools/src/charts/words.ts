/** Phrases that captions and analyses share. */
import type { ChartTable, ReadChart } from './chart-reading.ts';

/** The kind of a chart, e.g. `horizontal stacked bar chart`. */
export function kindText({ kind, isHorizontal, isStacked, series }: ChartTable): string {
  if (kind === 'scatter') return 'scatter plot';
  if (kind === 'pie') return 'pie chart';
  const isGrouped = kind === 'bar' && !isStacked && series.length > 1;
  const words = [
    isHorizontal && 'horizontal',
    isStacked && 'stacked',
    isGrouped && 'grouped',
    kind === 'line' && series.length > 1 && 'multi-line',
    kind === 'line' && series.length === 1 && 'line',
    kind !== 'line' && kind,
    'chart',
  ];
  return words.filter((word) => word !== false).join(' ');
}

/** `a`, `a and b`, `a, b and c`. */
export function listText(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}

/** Whether a word takes `an`. */
export function withArticle(text: string): string {
  return `${/^[aeiou]/i.test(text) ? 'an' : 'a'} ${text}`;
}

/** The title in quotes, or nothing. */
export function titleText({ title }: ReadChart): string {
  return title === null ? '' : ` titled "${title}"`;
}
