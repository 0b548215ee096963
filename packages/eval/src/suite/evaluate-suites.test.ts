import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError, randomAt } from '@saccade/core';
import { RewardError } from '@saccade/rewards';
import { readEvaluation, type SuiteResults } from '@saccade/run-store';
import { afterAll, describe, expect, it } from 'vitest';
import { compareEvaluations } from '../measure/compare-evaluations.ts';
import { evaluateSuites } from './evaluate-suites.ts';
import type { OpenSuite } from './open-suite.ts';
import {
  digitTasks,
  evaluationOf,
  luckyWord,
  scriptedModel,
  scriptedSampler,
  scriptedSuite,
} from './scripted-suite.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'saccade-suites-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;
const fresh = (): string => join(root, `evaluation-${made++}`);

const resultsOf = (directory: string): string =>
  readFileSync(join(directory, 'results.json'), 'utf8');

function keysOf(directory: string): readonly string[] {
  const { value } = readEvaluation(directory);
  return [...value.samples('digits')].map(({ trajectory }) => trajectory.id).sort();
}

async function whole(): Promise<{ directory: string; results: SuiteResults; requests: number }> {
  const directory = fresh();
  const sampler = scriptedSampler();
  const { results } = await evaluateSuites(evaluationOf(directory, { sampler }));
  const digits = results.suites.digits as SuiteResults;
  return { directory, results: digits, requests: sampler.requests.length };
}

describe('an evaluation of suites', () => {
  it('measures every sample of every task, by slice', async () => {
    const { directory, results } = await whole();
    const { value, damage } = readEvaluation(directory);
    expect(damage).toEqual([]);
    const rewards = [...value.samples('digits')].map(({ trajectory }) => trajectory.reward);
    expect(rewards).toHaveLength(24);
    const mean = rewards.reduce((sum, one) => sum + one, 0) / 24;
    expect(results).toMatchObject({ tasks: 6, samples: 24, missing: 0, k: 4 });
    expect(results.metrics['avg@4']).toBeCloseTo(mean, 12);
    expect(results.metrics['pass@1']).toBeCloseTo(mean, 12);
    expect(results.metrics['pass@4']).toBeGreaterThan(mean);
    expect(results.metrics['execution/success_rate']).toBe(1);
    expect(Object.keys(results.slices)).toEqual(['difficulty', 'requiredTools']);
    expect(results.slices.difficulty?.['1']?.tasks).toBe(3);
    expect(results.buckets.tools).toEqual([expect.objectContaining({ label: 'crop', share: 1 })]);
    const calls = results.buckets.calls ?? [];
    expect(calls.map(({ label }) => label)).toEqual(['0', '1']);
    expect(calls.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
    const [low, high] = results.intervals['avg@4'] ?? [0, 0];
    expect(low).toBeLessThanOrEqual(mean);
    expect(high).toBeGreaterThanOrEqual(mean);
  });

  it('ends with the same bytes whenever and however often it is stopped', async () => {
    const { directory, requests } = await whole();
    const expected = { results: resultsOf(directory), keys: keysOf(directory) };
    const random = randomAt(7, 'stops');
    for (let trial = 0; trial < 8; trial++) {
      const other = fresh();
      let drawn = 0;
      for (let stops = 0; ; stops++) {
        const controller = new AbortController();
        const budget = stops < 3 ? 1 + random.integer(requests) : Number.POSITIVE_INFINITY;
        const sampler = scriptedSampler((request) => {
          if (++drawn >= budget && stops < 3) controller.abort(new Error('stopped'));
          return luckyWord(request);
        });
        const concurrency = 1 + random.integer(9);
        const { signal } = controller;
        const options = evaluationOf(other, { sampler, concurrency, signal });
        drawn = 0;
        try {
          await evaluateSuites(options);
          break;
        } catch (error) {
          expect((error as Error).message).toBe('stopped');
        }
      }
      expect(resultsOf(other)).toBe(expected.results);
      expect(keysOf(other)).toEqual(expected.keys);
    }
  });

  it('draws nothing twice, and only what is new where k grows', async () => {
    const { directory, requests } = await whole();
    const again = scriptedSampler();
    await evaluateSuites(evaluationOf(directory, { sampler: again }));
    expect(again.requests).toHaveLength(0);
    const more = scriptedSampler();
    const suites = [scriptedSuite({ k: 6 })];
    const { results } = await evaluateSuites(evaluationOf(directory, { sampler: more, suites }));
    expect(results.suites.digits?.samples).toBe(36);
    expect(more.requests.length).toBeLessThan(requests);
    const direct = fresh();
    await evaluateSuites(evaluationOf(direct, { suites }));
    expect(resultsOf(directory)).toBe(resultsOf(direct));
  });

  it('adds a suite to a directory and measures both', async () => {
    const { directory } = await whole();
    const suites = [scriptedSuite({ name: 'more', taskCount: 2 })];
    const { results } = await evaluateSuites(evaluationOf(directory, { suites }));
    expect(Object.keys(results.suites)).toEqual(['digits', 'more']);
    expect(results.isComplete).toBe(true);
  });

  it('says what it may cost before anything is drawn', async () => {
    const sampler = scriptedSampler();
    const options = evaluationOf(fresh(), { sampler });
    const seen: unknown[] = [];
    const { results } = await evaluateSuites({
      ...options,
      onEstimate(estimates) {
        seen.push(...estimates);
        return false;
      },
    });
    // 24 samples of 4 turns of 8 tokens.
    expect(seen).toEqual([
      {
        ...{ suite: 'digits', kept: 0, toDraw: 24, requests: 96 },
        ...{ writtenTokens: 768, readTokens: 19_200 },
      },
    ]);
    expect(sampler.requests).toHaveLength(0);
    expect(results.isComplete).toBe(false);
  });

  it('compares two models on the same tasks', async () => {
    const [a, b] = [await whole(), fresh()];
    await evaluateSuites(
      evaluationOf(b, {
        sampler: scriptedSampler(() => 'a3'),
        model: { ...scriptedModel, identity: 'e'.repeat(64) },
      }),
    );
    const stored = [a.directory, b].map((one) => readEvaluation(one).value);
    const found = compareEvaluations(stored[0] as never, stored[1] as never, 'digits');
    expect(found.a).toBeCloseTo(a.results.metrics['avg@4'] as number, 12);
    expect(found).toMatchObject({ b: 0, taskCount: 6, losses: 0 });
    expect(found.pValue).toBeLessThan(0.1);
    // With one more than 2⁵ ways of signs, six tasks that all differ give p = 2/64.
    if (found.wins === 6) expect(found.pValue).toBeCloseTo(2 / 64, 12);
  });
});

describe('bad input to an evaluation of suites', () => {
  async function refusal(change: Partial<OpenSuite>, directory: string): Promise<Error> {
    const sampler = scriptedSampler();
    const before = keysOf(directory);
    const error = await evaluateSuites(
      evaluationOf(directory, { sampler, suites: [scriptedSuite(change)] }),
    ).then(
      () => new Error('nothing was refused'),
      (thrown: Error) => thrown,
    );
    expect(sampler.requests).toHaveLength(0);
    expect(keysOf(directory)).toEqual(before);
    return error;
  }

  it('names what has changed in a suite between two calls, and keeps the samples', async () => {
    const { directory } = await whole();
    const settings = { taskSet: { name: 'digits', seed: 4 }, verifier: { name: 'exact' } };
    const sampling = { ...scriptedSuite().sampling, temperature: 0.5 };
    const cases: readonly (readonly [Partial<OpenSuite>, RegExp])[] = [
      [{ settings }, /taskSet\.seed was 0 and is 4.*another --out/],
      [{ sampling }, /temperature was 1 and is 0\.5/],
      [{ k: 2 }, /k was 4 and is 2; k can only grow/],
      [{ taskCount: 5 }, /it had 6 tasks and has 5/],
      [
        {
          taskSet: digitTasks((task, index) => (index === 3 ? { ...task, answer: '8' } : task)),
        },
        /task 3 \(digits-heldOut-3\) is another one, its answer has changed/,
      ],
      [
        {
          taskSet: digitTasks((task, index) => {
            const [image] = task.images;
            if (index !== 2 || image === undefined) return task;
            return { ...task, images: [{ ...image, png: Uint8Array.of(5) }] };
          }),
        },
        /task 2 \(digits-heldOut-2\) is another one, its images have changed/,
      ],
    ];
    for (const [change, message] of cases) {
      const error = await refusal(change, directory);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toMatch(message);
    }
  });

  it('refuses another model and another seed', async () => {
    const { directory } = await whole();
    const model = { ...scriptedModel, label: 'another', identity: 'a'.repeat(64) };
    await expect(evaluateSuites(evaluationOf(directory, { model }))).rejects.toThrow(
      /holds an evaluation of scripted, and this is another/,
    );
    await expect(evaluateSuites(evaluationOf(directory, { seed: 2 }))).rejects.toThrow(
      /samples of the seed 1, and this seed is 2/,
    );
  });

  it('names tasks whose files are missing, before anything is drawn', async () => {
    const sampler = scriptedSampler();
    const taskSet = digitTasks((task, index) => {
      if (index % 2 === 1) throw new DataError(`There is no file image-${index}.png.`);
      return task;
    });
    const suites = [scriptedSuite({ taskSet })];
    await expect(evaluateSuites(evaluationOf(fresh(), { sampler, suites }))).rejects.toThrow(
      /3 of the 6 tasks of the suite digits cannot be read\. task 1: There is no file image-1\.png\./,
    );
    expect(sampler.requests).toHaveLength(0);
  });

  it('refuses tasks with one id', async () => {
    const suites = [scriptedSuite({ taskSet: digitTasks((task) => ({ ...task, id: 'same' })) })];
    await expect(evaluateSuites(evaluationOf(fresh(), { suites }))).rejects.toThrow(
      /tasks 0 and 1 of the suite digits have one id, "same"/,
    );
  });

  it('counts a model that never ends as wrong, not as missing', async () => {
    const sampler = scriptedSampler(() => 'on and on and on');
    const { results } = await evaluateSuites(evaluationOf(fresh(), { sampler }));
    const { metrics, missing, buckets } = results.suites.digits as SuiteResults;
    expect({ missing, accuracy: metrics['avg@4'] }).toEqual({ missing: 0, accuracy: 0 });
    expect(buckets.ends).toEqual([expect.objectContaining({ label: 'lengthLimit', share: 1 })]);
  });

  it('keeps the rollouts that a judge failed on, and scores them later without drawing', async () => {
    const directory = fresh();
    const nonsense = async (): Promise<number> => {
      throw new RewardError('The judge replied "maybe", which holds no grade.');
    };
    const [crop, process, consistency] = [nonsense, nonsense, nonsense];
    const judges = { answer: nonsense, crop, process, consistency };
    // Rules come first: only what they refuse is asked about.
    const failing = await evaluateSuites(
      evaluationOf(directory, { suites: [scriptedSuite({ judges })], concurrency: 1 }),
    );
    expect(failing.missing.digits).toMatch(/samples are missing \(scoring: .*holds no grade/);
    expect(failing.results.isComplete).toBe(false);
    const { value } = readEvaluation(directory);
    const unscored = [...value.unscored('digits')];
    expect(unscored.length).toBeGreaterThan(0);
    expect(unscored[0]?.tags.scoringFailure).toMatch(/holds no grade/);
    const sampler = scriptedSampler();
    await evaluateSuites(evaluationOf(directory, { sampler }));
    const { directory: other } = await whole();
    expect(sampler.requests).toHaveLength(0);
    expect(resultsOf(directory)).toBe(resultsOf(other));
  });

  it('stops where samples keep failing, and goes on from what it has', async () => {
    const directory = fresh();
    let calls = 0;
    const sampler = scriptedSampler((request) =>
      ++calls > 10 ? new Error('connection refused') : luckyWord(request),
    );
    const suites = [scriptedSuite({ taskCount: 40 })];
    await expect(evaluateSuites(evaluationOf(directory, { sampler, suites }))).rejects.toThrow(
      /The last 32 samples of the suite digits failed \(policy: connection refused\)/,
    );
    const kept = keysOf(directory).length;
    expect(kept).toBeGreaterThan(0);
    await evaluateSuites(evaluationOf(directory, { suites }));
    expect(keysOf(directory)).toHaveLength(160);
  });

  it('says how many samples are missing where single ones fail', async () => {
    const directory = fresh();
    let calls = 0;
    const sampler = scriptedSampler((request) =>
      ++calls === 3 ? new Error('a hiccup') : luckyWord(request),
    );
    const { results, missing } = await evaluateSuites(
      evaluationOf(directory, { sampler, concurrency: 1 }),
    );
    expect(missing).toEqual({ digits: '1 samples are missing (policy: a hiccup)' });
    expect(results).toMatchObject({ isComplete: false, suites: { digits: { missing: 1 } } });
    const sizes = readdirSync(join(directory, 'samples', 'digits')).map(
      (name) => statSync(join(directory, 'samples', 'digits', name)).size,
    );
    expect(Math.max(...sizes)).toBeGreaterThan(0);
    await evaluateSuites(evaluationOf(directory));
    expect(resultsOf(directory)).toBe(resultsOf((await whole()).directory));
  });
});
