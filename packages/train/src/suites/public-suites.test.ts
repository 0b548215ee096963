/** Public suites over copies of a user's: rows in the columns of the benchmark, tasks, and their scores. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Suite, suites } from '@saccade/eval';
import { needleWith, type TaskSet } from '@saccade/gym';
import type { Verifier } from '@saccade/rewards';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputOf } from '../recipe.ts';
import { recipes } from '../registry.ts';
import { resolveRun } from '../run-config.ts';
import { required, settingsOf } from '../unit-settings.ts';
import { findSuites } from './find-suites.ts';
import { resolveSuite } from './suite-input.ts';

const root = mkdtempSync(join(tmpdir(), 'saccade-public-suites-'));
afterAll(() => rmSync(root, { recursive: true }));

const base = resolveRun(inputOf(recipes.get('smoke')));
let png: Uint8Array;
beforeAll(async () => {
  const [image] = (await needleWith({ cells: 2, cards: 1 }).task('heldOut', 0)).images;
  png = image?.png ?? new Uint8Array();
});

/** A folder with a file of rows. */
function folderOf(name: string, file: string, rows: readonly object[]): string {
  const folder = join(root, name);
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return folder;
}

/** The tasks of a suite over a folder, as an evaluation opens them, and what scores them. */
async function opened(
  suite: Suite,
  settings: Readonly<Record<string, unknown>>,
): Promise<{ readonly tasks: TaskSet; readonly verifier: Verifier }> {
  const own = Object.entries(settings).map(([field, value]) => {
    return { path: `${suite.name}.${field}`, value };
  });
  const { run } = resolveSuite(base, suite, { own });
  const unit = required(run.units.taskSet).with(settingsOf(run.config.taskSet));
  const tasks = (await unit.open?.({ onEvent: () => {} } as never)) ?? unit;
  return { tasks, verifier: required(run.units.verifier).with(settingsOf(run.config.verifier)) };
}

describe('chartqapro', () => {
  type Case = readonly [string, string, string, readonly string[], paper: number, script: number];
  const golden = new URL(
    '../../../rewards/src/verifiers/relaxed-lists.golden.jsonl',
    import.meta.url,
  );
  const [, ...lines] = readFileSync(golden, 'utf8').trimEnd().split('\n');
  const cases = lines.map((line) => JSON.parse(line) as Case);
  let from: string;
  beforeAll(() => {
    from = folderOf(
      'chartqapro',
      'data/test-00000-of-00001.jsonl',
      cases.map(([, expected, kind, year], i) => {
        const turns = kind === 'Conversational' ? [['What is shown?', 'Sales.']] : [];
        return {
          Question: [...turns.map(([question]) => question), `Question ${i}?`],
          Answer: [...turns.map(([, answer]) => answer), expected],
          'Question Type': kind,
          image: 'chart.png',
          Year: year,
          Paragraph: i % 2 === 0 ? '' : 'It rained.',
        };
      }),
    );
    writeFileSync(join(from, 'chart.png'), png);
  });

  it('scores answers as its paper says, and as its script does by a setting', async () => {
    const suite = suites.get('chartqapro');
    const { tasks, verifier } = await opened(suite, { 'taskSet.from': from });
    const script = await opened(suite, {
      'taskSet.from': from,
      'verifier.exactKinds': false,
    });
    expect(tasks.size('heldOut')).toBe(cases.length);
    for (const [i, [answer, , kind, , paper, published]] of cases.entries()) {
      const task = await tasks.task('heldOut', i);
      expect(task.metadata.kind).toBe(kind);
      expect(task.question).toContain(`Question ${i}?`);
      expect(task.question.startsWith('It rained.\n\n')).toBe(i % 2 === 1);
      const isTalk = task.question.includes('Question: What is shown?\nAnswer: Sales.\nQuestion: ');
      expect(isTalk).toBe(kind === 'Conversational');
      expect(verifier.verify(answer, task.answer), `${i}`).toBeCloseTo(paper, 10);
      expect(script.verifier.verify(answer, task.answer), `${i}`).toBeCloseTo(published, 10);
      expect(verifier.verify(task.answer, task.answer), `${i}`).toBe(1);
    }
    await tasks.dispose?.();
    await script.tasks.dispose?.();
  });

  it('is asked in six poses of its charts', async () => {
    const [turned] = await findSuites(['orientation:chartqapro']);
    const { tasks, verifier } = await opened(turned as Suite, { 'taskSet.from': from });
    const upright = (await opened(suites.get('chartqapro'), { 'taskSet.from': from })).tasks;
    expect(tasks.size('heldOut')).toBe(6 * cases.length);
    const poses = await Promise.all([6, 7, 8, 9, 10, 11].map((i) => tasks.task('heldOut', i)));
    const { question, answer } = await upright.task('heldOut', 1);
    expect(new Set(poses.map(({ metadata }) => metadata.orientation)).size).toBe(6);
    for (const pose of poses) expect(pose).toMatchObject({ question, answer });
    expect(verifier.verify(answer, answer)).toBe(1);
    await tasks.dispose?.();
    await upright.dispose?.();
    await expect(opened(turned as Suite, { 'taskSet.form': from })).rejects.toThrow(
      /There is no setting taskSet\.form.*from/s,
    );
  });
});

describe('pixmo-count', () => {
  it('reads images by their hash, and says which are missing or others', async () => {
    const hash = createHash('sha256').update(png).digest('hex');
    const row = {
      image_url: 'http://127.0.0.1/a',
      count: 3,
      points: { x: [], y: [] },
      label: 'cats',
    };
    const other = 'f'.repeat(64);
    const rows = [hash, other, '0'.repeat(64)].map((image_sha256) => ({ ...row, image_sha256 }));
    const from = folderOf('pixmo-count', 'data/test-00000-of-00001.jsonl', rows);
    mkdirSync(join(from, 'images'));
    writeFileSync(join(from, 'images', `${hash}.jpeg`), png);
    writeFileSync(join(from, 'images', other), png);
    const open = () => opened(suites.get('pixmo-count'), { 'taskSet.from': from });
    const { tasks, verifier } = await open();
    const task = await tasks.task('heldOut', 0);
    expect(task).toMatchObject({ question: 'How many cats are there in the image?', answer: '3' });
    expect(verifier.verify('There are three cats.', task.answer)).toBe(1);
    await expect(tasks.task('heldOut', 1)).rejects.toThrow(
      `images/${other} has the SHA-256 ${hash}, and image_sha256 of its row says ${other}`,
    );
    await tasks.dispose?.();
    const again = (await open()).tasks;
    await expect(again.task('heldOut', 2)).rejects.toThrow(/no file "images\/0{64}", nor one with/);
    await again.dispose?.();
  });
});
