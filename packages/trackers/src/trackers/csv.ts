/** `csv`: one table, a row per logged row, a column per metric in the order of the catalog. */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from '@saccade/core/settings';
import type { MetricsRow } from '@saccade/run-store';
import { findMetric, metricCatalog } from '@saccade/run-store/metrics';
import { z } from 'zod';
import { defineTracker } from '../tracker.ts';

const settings = z.strictObject({
  path: text({
    default: 'metrics.csv',
    unit: 'path',
    about: 'The file, from the run’s directory.',
  }),
});

export const csv = defineTracker({
  name: 'csv',
  description:
    'One table for spreadsheets and data frames; a cell is empty where a row has no value.',
  settings,
  open({ path }, { directory, rows: before }) {
    const target = resolve(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    const rows: MetricsRow[] = [...before];
    let columns: readonly string[] = columnsOf(rows);
    const rewrite = (): void => {
      const lines = [columns, ...rows.map((row) => columns.map((name) => row[name]))];
      writeFileSync(`${target}.new`, lines.map(lineOf).join(''));
      renameSync(`${target}.new`, target);
    };
    rewrite();
    return {
      metrics(row) {
        rows.push(row);
        const isKnown = Object.keys(row).every((name) => columns.includes(name));
        if (isKnown) return appendFileSync(target, lineOf(columns.map((name) => row[name])));
        // A later kind of row may add columns: then the table is rewritten.
        columns = columnsOf(rows);
        rewrite();
      },
      close() {},
    };
  },
});

const FIRST = ['stage', 'step', 'label'];
const places = new Map(metricCatalog.map((metric, place) => [metric, place]));

/** All names of some rows: what says which row it is, then the catalog's order, then by name. */
function columnsOf(rows: readonly MetricsRow[]): readonly string[] {
  const place = (name: string): number => {
    if (FIRST.includes(name)) return FIRST.indexOf(name) - FIRST.length;
    const metric = findMetric(name);
    return (metric && places.get(metric)) ?? metricCatalog.length;
  };
  const names = [...new Set(['stage', 'step', ...rows.flatMap((row) => Object.keys(row))])];
  return names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

/** One line as RFC 4180 has it. */
function lineOf(cells: readonly (string | number | undefined)[]): string {
  const quoted = cells.map((cell = '') => {
    const written = String(cell);
    return /[",\r\n]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
  });
  return `${quoted.join(',')}\r\n`;
}
