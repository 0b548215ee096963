import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Split, Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { type ChartFacts, chartsQa } from './charts-qa.ts';

interface File {
  heldOut: string[];
  tables: {
    id: string;
    columns: string[];
    rows: { name: string; values: number[] }[];
  }[];
}
const file = JSON.parse(
  readFileSync(new URL('../../data/tables.json', import.meta.url), 'utf8'),
) as File;

const splits: readonly Split[] = ['train', 'heldOut'];
const perSplit = 40;
const started = performance.now();
const tasks = await Promise.all(
  splits.map((split) =>
    Promise.all(Array.from({ length: perSplit }, (_, i) => chartsQa.task(split, i))),
  ),
);
const each = (performance.now() - started) / (2 * perSplit);
console.log(`charts-qa: ${each.toFixed(0)} ms per task`);
const factsOf = (task: Task) => task.metadata as unknown as ChartFacts;

/** The answer from the stored table, in integer tenths, apart from the code that asks. */
function recompute({ table, program }: ChartFacts): string {
  const stored = file.tables.find(({ id }) => id === table);
  const tenths = program.cells.map(({ row, column }) => {
    const values = stored?.rows.find(({ name }) => name === row)?.values;
    return Math.round(Number(values?.[stored?.columns.indexOf(column) ?? -1]) * 10);
  });
  const [first = Number.NaN, second = Number.NaN] = tenths;
  let sum = 0;
  for (const tenth of tenths) sum += tenth;
  const ranked = program.cells
    .map((cell, index) => ({ ...cell, tenth: tenths[index] ?? Number.NaN }))
    .sort((a, b) => a.tenth - b.tenth);
  const along = program.along ?? 'row';
  const hundredths = (value: number) => (Math.floor(value * 100 + 0.5 + 1e-6) / 100).toFixed(2);
  const answers = {
    lookup: () => String(first / 10),
    highest: () => String(ranked.at(-1)?.[along]),
    lowest: () => String(ranked[0]?.[along]),
    difference: () => String((first - second) / 10),
    ratio: () => hundredths(first / second),
    sum: () => String(sum / 10),
    mean: () => hundredths(sum / tenths.length / 10),
    count: () => String(tenths.filter((tenth) => tenth > (program.threshold ?? 0) * 10).length),
    compare: () => (first > second ? 'yes' : 'no'),
    trend: () => (first < second ? 'rise' : 'fall'),
  };
  return answers[program.operation]();
}

describe('charts-qa', () => {
  for (const { name, check } of taskSetContract) it(name, () => check(chartsQa));

  it('answers as its program says, from the stored table', () => {
    for (const task of tasks.flat()) {
      expect(recompute(factsOf(task)), task.question).toBe(task.answer);
    }
  });

  it('asks about no entity of the held-out split in train, nor in its typefaces', () => {
    const [train = [], heldOut = []] = tasks;
    const parts = (some: readonly Task[]) =>
      new Set(
        some.flatMap((task) => {
          const { typeface, program } = factsOf(task);
          return [typeface, ...program.cells.map(({ row }) => row)];
        }),
      );
    const held = parts(heldOut);
    expect([...parts(train)].filter((part) => held.has(part))).toEqual([]);
    const names = heldOut.flatMap((task) => factsOf(task).program.cells.map(({ row }) => row));
    expect(names.filter((name) => !file.heldOut.includes(name))).toEqual([]);
  });

  it('keeps every evidence box inside the image and the box around them', () => {
    for (const task of tasks.flat()) {
      const { box, evidence } = factsOf(task);
      const { width = 0, height = 0 } = task.images[0] ?? {};
      expect(evidence.length).toBeGreaterThan(0);
      for (const { box: inner } of evidence) {
        expect(inner[0]).toBeGreaterThanOrEqual(Math.max(0, box[0]));
        expect(inner[1]).toBeGreaterThanOrEqual(Math.max(0, box[1]));
        expect(inner[2]).toBeLessThanOrEqual(Math.min(width, box[2]));
        expect(inner[3]).toBeLessThanOrEqual(Math.min(height, box[3]));
        expect(inner[2]).toBeGreaterThan(inner[0]);
        expect(inner[3]).toBeGreaterThanOrEqual(inner[1]);
      }
    }
  });

  it('asks for the difficulties and kinds that the settings allow', async () => {
    const some = chartsQa.with({ easiest: 2, hardest: 3, kinds: ['pie', 'lines'] });
    for (let index = 0; index < 6; index++) {
      const { difficulty, kind } = factsOf(await some.task('train', index));
      expect([2, 3]).toContain(difficulty);
      expect(['pie', 'lines']).toContain(kind);
    }
    expect(() => chartsQa.with({ easiest: 3, hardest: 2 })).toThrow(/easiest/);
    expect(() => chartsQa.with({ kinds: ['radar'] })).toThrow(/radar/);
  });

  it('draws the same bytes in another process', () => {
    const digest = (task: Task | undefined) =>
      createHash('sha256')
        .update(task?.images[0]?.png ?? new Uint8Array())
        .digest('hex');
    const script = `
      import { createHash } from 'node:crypto';
      import { visionTaskSets } from '@saccade/vision-tasks';
      const task = await visionTaskSets.get('charts-qa').task('heldOut', 3);
      console.log(createHash('sha256').update(task.images[0].png).digest('hex'));`;
    const found = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: new URL('../..', import.meta.url),
      encoding: 'utf8',
    });
    expect(found.trim()).toBe(digest(tasks[1]?.[3]));
  });
});
