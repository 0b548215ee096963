/** Algorithm 1 over a run directory: what its scripts do is known, and a scripted judge sees crops. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askWith,
  type FaithfulnessInput,
  faithfulnessJudge,
  type Judge,
  scriptedChat,
} from '@saccade/rewards';
import { listTrajectorySets, readTrajectorySet } from '@saccade/run-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFaithfulness } from './run-faithfulness.ts';
import { weak, writeEvaluation } from './side-by-side/evaluation.fixture.ts';
import { writeSyntheticRun } from './synthetic-run.ts';

const TASKS = 20;
const directory = mkdtempSync(join(tmpdir(), 'saccade-faithfulness-'));

beforeAll(async () => {
  await writeSyntheticRun(directory, { tasks: TASKS, sftUpdates: 2, rlSteps: 2, isFinished: true });
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true }));

const options = { cropIou: 0.5 };

/** Bytes of every image that a tool gave, by whether it is the card asked about. */
async function cropsOfRun(): Promise<ReadonlyMap<string, boolean>> {
  const crops = new Map<string, boolean>();
  for (const name of listTrajectorySets(directory).value) {
    for (const line of readTrajectorySet(directory, name).value) {
      const { segments, turns } = (await line.load()).value;
      for (const { action, segment } of turns) {
        if (action.kind !== 'code') continue;
        const isCard = action.code.includes(`(${String(line.tags.box)})`);
        for (const { png } of segments[segment + 1]?.images ?? []) {
          crops.set(Buffer.from(png).toString('base64'), isCard);
        }
      }
    }
  }
  return crops;
}

/** A judge that sees the image alone, and says yes or no. */
function judgeSaying(grade: (png: Uint8Array) => string) {
  let asked = 0;
  const model = scriptedChat((messages) => {
    asked++;
    const image = messages.flatMap(({ parts }) => parts).find((part) => part.kind === 'image');
    return grade(image?.kind === 'image' ? image.png : new Uint8Array());
  });
  const judge: Judge<FaithfulnessInput> = faithfulnessJudge;
  return { ask: askWith(judge, model), asked: () => asked };
}

describe('readFaithfulness', () => {
  it('counts what the scripts of the run do, by the boxes of its tasks', async () => {
    const { by, sets, gaps } = await readFaithfulness(directory, options);
    expect([by, gaps]).toEqual(['boxes', []]);
    expect(sets.map(({ name }) => name)).toEqual(['evaluation-final', 'evaluation-sft']);
    const [final, sft] = sets;
    // Of seven, six look at the card and answer right; one strays to a decoy, where there is one.
    expect(final?.faithfulness.count).toBe(TASKS);
    expect(final?.faithfulness.rate).toBe(18 / TASKS);
    expect(final?.faithfulness.rateOfCorrect).toBe(1);
    expect(final?.accuracy).toBe(18 / TASKS);
    // Of five: stray, guess, corrected, right, silent; a fifth of all uses no tool at least.
    expect(sft?.faithfulness.rate).toBe(8 / TASKS);
    expect(sft?.faithfulness.classes?.faithful).toBe(8 / TASKS);
    expect(sft?.faithfulness.classes?.noTool).toBeGreaterThanOrEqual(4 / TASKS);
    expect(sft?.buckets.reduce((sum, { rightShare }) => sum + rightShare, 0)).toBeCloseTo(0.4, 12);
  });

  it('asks a judge of every image, and agrees with the boxes where the judge is right', async () => {
    const crops = await cropsOfRun();
    const { ask, asked } = judgeSaying((png) =>
      crops.get(Buffer.from(png).toString('base64')) === true ? '1' : '0',
    );
    const judged = await readFaithfulness(directory, { ...options, ask });
    const boxed = await readFaithfulness(directory, options);
    expect(judged.by).toBe('judge');
    expect(judged.sets.map(({ faithfulness }) => faithfulness)).toEqual(
      boxed.sets.map(({ faithfulness }) => faithfulness),
    );
    for (const { agreement } of judged.sets) expect(agreement?.kappa).toBe(1);
    expect(asked()).toBe(crops.size);
  });

  it('has kappa 0 with a judge that says yes to all, and calls every look faithful', async () => {
    const { ask } = judgeSaying(() => '1');
    const { sets } = await readFaithfulness(directory, { ...options, ask });
    for (const { agreement, faithfulness } of sets) {
      expect(agreement?.kappa).toBeCloseTo(0, 12);
      expect(faithfulness.classes?.unfaithful).toBeCloseTo(0, 12);
    }
  });

  it('leaves out what a judge fails on, and says so', async () => {
    const { ask } = judgeSaying(() => 'I cannot tell.');
    const { sets, gaps } = await readFaithfulness(directory, {
      ...options,
      ask,
      only: ['evaluation-final'],
    });
    expect(sets).toHaveLength(1);
    // Those without a look had nothing to be asked about.
    expect(sets[0]?.faithfulness.classes?.noTool ?? 0).toBe(sets[0]?.trajectories.length ? 1 : 0);
    expect(gaps.join()).toMatch(
      /the judge failed on \d+ trajectories: .*gave no grade in 2 replies/,
    );
  });

  it('measures the suites of an evaluation, all samples of them, by boxes and by a judge', async () => {
    const evaluation = mkdtempSync(join(tmpdir(), 'saccade-faithfulness-'));
    try {
      await writeEvaluation(evaluation, { label: 'weak', plays: weak, suites: ['a', 'b'] });
      const { sets, gaps } = await readFaithfulness(evaluation, options);
      expect([sets.map(({ name }) => name), gaps]).toEqual([['a', 'b'], []]);
      // Of two samples of eight tasks, half look at the card and are right.
      expect(sets[0]?.faithfulness).toMatchObject({ count: 16, rate: 0.5, rateOfCorrect: 1 });
      const { ask, asked } = judgeSaying(() => '0');
      const judged = await readFaithfulness(evaluation, { ...options, ask, only: ['b'] });
      expect(judged.sets[0]?.faithfulness).toMatchObject({ count: 16, rate: 0 });
      expect(asked()).toBeGreaterThan(4);
      await expect(readFaithfulness(evaluation, { ...options, only: ['c'] })).rejects.toThrow(
        /no suite "c".*It has a, b/,
      );
    } finally {
      rmSync(evaluation, { recursive: true });
    }
  });

  it('refuses a file that is not there, with those that are', async () => {
    await expect(readFaithfulness(directory, { ...options, only: ['none'] })).rejects.toThrow(
      /no trajectories called "none". Known: evaluation-final, evaluation-sft/,
    );
  });
});
