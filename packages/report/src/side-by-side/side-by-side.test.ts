/// <reference lib="dom" />
/** Evaluations side by side: numbers that follow from the scripts, files that nothing runs in, a page. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '@saccade/core';
import fc from 'fast-check';
import Papa from 'papaparse';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCell, type Table } from '../tables/table.ts';
import { tableFormats, writeTable } from '../tables/write-table.ts';
import { skilled, weak, writeEvaluation } from './evaluation.fixture.ts';
import { readSideBySide } from './read-side-by-side.ts';
import { drawSidePage } from './side-page.ts';
import { sideTables } from './side-tables.ts';
import { writeSideBySide } from './write-side-by-side.ts';

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
if (executablePath === undefined) {
  console.warn('The page is not opened in a browser: no Chromium is installed here.');
}

const root = mkdtempSync(join(tmpdir(), 'saccade-side-'));
const [before, after] = [join(root, 'before'), join(root, 'after')];
const hostile = '<script>document.title="broken"</script><img src=x onerror="document.title=1">';
const quick = { resamples: 200 };

beforeAll(async () => {
  await writeEvaluation(before, { label: `mine, step 0 ${hostile}`, plays: weak, step: 0 });
  await writeEvaluation(after, {
    ...{ label: 'mine, step 40', plays: skilled, step: 40 },
    thought: `${hostile}</p></details>`,
  });
}, 120_000);
afterAll(() => rmSync(root, { recursive: true }));

/** A page to look at, without text that attacks it. */
async function cleanPage(): Promise<string> {
  const clean = [join(root, 'clean-before'), join(root, 'clean-after'), join(root, 'clean-chat')];
  const [one = '', two = '', three = ''] = clean;
  await writeEvaluation(one, { label: 'needle-seed1, step 0', plays: weak, step: 0 });
  await writeEvaluation(two, { label: 'needle-seed1, step 40', plays: skilled, step: 40 });
  const plays = (task: number, sample: number) => weak(task + 1, sample + 1);
  await writeEvaluation(three, { label: 'chat:small-vlm', plays, thought: 'I look at a card.' });
  return (await writeSideBySide(clean, join(root, 'clean'), quick)).page;
}

const tablesOf = (directories: readonly string[]): ReadonlyMap<string, Table> =>
  new Map(sideTables(readSideBySide(directories, quick)).map((table) => [table.name, table]));

describe('evaluations side by side', () => {
  it('have the numbers of their scripts: accuracy, pairs, slices, buckets, errors', () => {
    const tables = tablesOf([before, after]);
    const cell = (name: string, row: number, key: string) => {
      const { columns = [], rows = [] } = tables.get(name) ?? {};
      return rows[row]?.[columns.findIndex((column) => column.key === key)];
    };
    // Eight tasks, two samples: the weak one is right in two scripts of four, the skilled on 7 tasks.
    expect(cell('needle-accuracy', 0, 'avg_at_k')).toMatchObject({ estimate: 8 / 16 });
    expect(cell('needle-accuracy', 1, 'avg_at_k')).toMatchObject({ estimate: 7 / 8 });
    expect(cell('needle-accuracy', 0, 'samples')).toBe(16);
    expect(cell('needle-accuracy', 0, 'missing')).toBe(0);
    expect(cell('needle-pairs', 0, 'difference')).toMatchObject({ estimate: 8 / 16 - 7 / 8 });
    const counts = ['wins', 'ties', 'losses'].map((key) => Number(cell('needle-pairs', 0, key)));
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(8);
    expect(cell('needle-pairs', 0, 'p')).toBe(cell('needle-pairs', 0, 'p_adjusted'));
    // Of the weak one's samples a quarter guesses; those that stray where there is no decoy do not call.
    expect(cell('needle-calls', 0, 'calls')).toBe('0');
    expect(cell('needle-calls', 0, 'share_1')).toBeGreaterThanOrEqual(4 / 16);
    const shares = (tables.get('needle-calls')?.rows ?? []).map(([, share]) => Number(share ?? 0));
    expect(shares.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12);
    expect(tables.get('needle-slices')?.rows.length).toBeGreaterThan(0);
    expect(tables.get('needle-errors')?.rows.length).toBeGreaterThan(0);
    for (const { columns, rows, name } of tables.values()) {
      expect(new Set(columns.map(({ key }) => key)).size, name).toBe(columns.length);
      for (const row of rows) expect(row, name).toHaveLength(columns.length);
    }
  });

  it('swap with their order, and stand alone', () => {
    const difference = (directories: readonly string[]) =>
      tablesOf(directories).get('needle-pairs')?.rows[0]?.[2] as {
        estimate: number;
        low: number;
        high: number;
      };
    const [one, other] = [difference([before, after]), difference([after, before])];
    expect(other.estimate).toBeCloseTo(-one.estimate, 12);
    const alone = tablesOf([after]);
    expect(alone.has('needle-pairs')).toBe(false);
    expect(alone.get('needle-accuracy')?.rows).toHaveLength(1);
  });

  it('refuse what cannot be compared, and say what was left out', async () => {
    expect(() => readSideBySide([])).toThrow(ConfigError);
    expect(() => readSideBySide([before], { suites: ['none'] })).toThrow(
      /no evaluation has "none"/,
    );
    const other = join(root, 'other');
    await writeEvaluation(other, { label: 'other', plays: weak, tasks: 3, k: 1 });
    const { gaps } = readSideBySide([before, other], quick);
    expect(gaps.join()).toMatch(/evaluated on other tasks \(8 and 3/);
    expect(() => readSideBySide([root])).toThrow(/evaluation\.json/);
  });

  it('are written as a page and as every table in every form', async () => {
    const out = join(root, 'out');
    const { page, tables } = await writeSideBySide([before, after], out, {
      ...quick,
      shownTasks: 3,
    });
    const names = readdirSync(tables);
    expect(names).toHaveLength(tableFormats.length * tablesOf([before, after]).size);
    const text = readFileSync(page, 'utf8');
    // Not the page itself: a failure would print all of it.
    expect(text.includes('&lt;script&gt;document.title')).toBe(true);
    expect(text.match(/<script>/g)).toHaveLength(1);
    expect(/<img src=x|(?:src|href)="(?!data:|#)|>[^<]*\b(?:NaN|undefined)\b/.exec(text)?.[0]).toBe(
      undefined,
    );
  });

  it.skipIf(executablePath === undefined)(
    'are filtered with the keyboard, fit 420 pixels, and run nothing of a model',
    async () => {
      const { page: path } = await writeSideBySide([before, after], join(root, 'page'), quick);
      const browser = await chromium.launch({
        executablePath: executablePath ?? '',
        // Containers have no user namespaces; the page is our own.
        args: ['--no-sandbox', '--headless=new', '--disable-dev-shm-usage'],
      });
      const errors: string[] = [];
      try {
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(message.text());
        });
        page.on('pageerror', (error) => errors.push(error.message));
        const open = process.env.SACCADE_SHOTS === undefined ? path : await cleanPage();
        await page.goto(pathToFileURL(open).href);
        expect(await page.title()).toBe('Evaluations side by side');
        expect(await page.textContent('.shown')).toBe('8 of 8 tasks');
        await page.focus('select[name="outcome-1"]');
        await page.keyboard.type('wrong');
        await page.waitForFunction(
          () => document.querySelector('.shown')?.textContent === '1 of 8 tasks',
        );
        expect(await page.locator('details.task:visible').count()).toBe(1);
        await page.getByRole('button', { name: 'Show all' }).press('Enter');
        await page.waitForFunction(
          () => document.querySelector('.shown')?.textContent === '8 of 8 tasks',
        );
        await page.locator('.tasks a').first().press('Enter');
        expect(await page.locator('details.task[open]').count()).toBe(1);
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'CSV' }).first().press('Enter'),
        ]);
        expect(file.suggestedFilename()).toBe('needle-accuracy.csv');
        for (const width of [420, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          expect(wide).toBeLessThanOrEqual(width);
          const shots = process.env.SACCADE_SHOTS;
          for (const colorScheme of shots === undefined ? [] : (['light', 'dark'] as const)) {
            await page.emulateMedia({ colorScheme });
            const shot = join(shots ?? '', `side-${colorScheme}-${width}.png`);
            await page.screenshot({ path: shot, fullPage: true });
          }
        }
        expect(await page.title()).toBe('Evaluations side by side');
        expect(errors).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    120_000,
  );
});

describe('tables', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      '=1+1',
      '@x',
      '-1',
      '\t=cmd',
      '| a |',
      '\\input{/etc/passwd}',
      '$x^2_3$',
      '#&%{}~^',
      '"',
      hostile,
    ),
  );
  const tableOf = (cell: string): Table => ({
    name: 'hostile',
    title: cell,
    about: cell,
    columns: [
      { key: 'model', title: cell, kind: 'text' },
      { key: 'share', title: 'Share', kind: 'share', hasInterval: true },
    ],
    rows: [
      [cell, { estimate: 0.5, low: 0.25, high: 0.75 }],
      [cell, undefined],
    ],
  });

  it('keep any text as text in every form, and no number is rounded in CSV and JSON', () => {
    fc.assert(
      fc.property(text, (cell) => {
        const table = tableOf(cell);
        const csv = Papa.parse<string[]>(writeTable(table, 'csv').replace(/\r\n$/, '')).data;
        expect(csv).toHaveLength(3);
        expect(csv[1]?.slice(1)).toEqual(['0.5', '0.25', '0.75']);
        expect(csv[1]?.[0]).not.toMatch(/^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u);
        const json = JSON.parse(writeTable(table, 'json'));
        expect(json.rows[0]).toEqual({
          model: cell,
          share: { estimate: 0.5, low: 0.25, high: 0.75 },
        });
        const markdown = writeTable(table, 'md').trimEnd().split('\n');
        expect(markdown).toHaveLength(6);
        for (const line of markdown.slice(2)) {
          // Cells end at bars that are not escaped.
          expect(line.replaceAll(/\\./g, '').split('|')).toHaveLength(4);
        }
        expect(writeTable(table, 'md')).not.toMatch(/<[a-z!/]/i);
        const latex = writeTable(table, 'tex');
        const body = latex.slice(latex.indexOf('\\midrule'), latex.indexOf('\\bottomrule'));
        expect(body.trim().split('\n')).toHaveLength(3);
        expect(body.replaceAll(/\\[&%$#_{}\\]/g, '')).not.toMatch(/\\(?!text|midrule)|[%#]/);
      }),
      { numRuns: 200 },
    );
  });

  it('write numbers as people read them', () => {
    expect(formatCell({ estimate: 0.915, low: 0.8, high: 1 }, 'share')).toBe(
      '91.5 % (80.0 to 100.0)',
    );
    expect(formatCell({ estimate: -0.03, low: -0.1, high: 0.04 }, 'points')).toBe(
      '−3.0 points (−10.0 to +4.0)',
    );
    expect(formatCell(0.0004, 'pValue')).toBe('< 0.001');
    expect(formatCell(0.04, 'pValue')).toBe('0.040');
    expect(formatCell(undefined, 'share')).toBe('–');
    expect(formatCell(12, 'count')).toBe('12');
  });
});

describe('drawSidePage', () => {
  it('draws evaluations of several suites, with links to each', async () => {
    const two = join(root, 'two');
    await writeEvaluation(two, {
      label: 'two',
      plays: weak,
      tasks: 2,
      k: 1,
      suites: ['a', 'b <c>'],
    });
    const page = await drawSidePage(readSideBySide([two], quick), { shownTasks: 1 });
    // Not the page itself: a failure would print all of it.
    expect(page.includes('href="#suite-b-c-"')).toBe(true);
    expect(page.includes('id="suite-b-c-"')).toBe(true);
    expect(page.includes('<h3>pass@n')).toBe(false);
  });
});
