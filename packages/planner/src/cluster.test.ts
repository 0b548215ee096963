import { randomAt } from '@saccade/core';
import { schedulers } from '@saccade/schedulers';
import { describe, expect, it } from 'vitest';
import { simulateCluster } from './cluster.ts';
import { placements } from './device-shares.ts';
import { free, group, simulation, trajectory } from './tiny-cluster.fixture.ts';

const mixed = (lengths: readonly number[], options = {}) =>
  group(
    100,
    [0, 1, 0, 1].map((reward) => trajectory(lengths, { ...options, reward })),
  );

describe('a simulated run', () => {
  it('in steps takes the sum of prefill, decode, tools, rewards, learning and publishing', () => {
    const report = simulateCluster(
      simulation('synchronous', {
        groups: [mixed([10, 20], { toolSeconds: 3, observationTokens: 50 })],
        costs: {
          engine: {
            ...free.engine,
            decode: [
              [1, 100],
              [1000, 100_000],
            ],
            prefillTokensPerSecond: 1000,
          },
          reward: { secondsPerTrajectory: 0.25, servers: 4 },
          learner: { ...free.learner, secondsPerToken: 0.001, secondsPerStep: 2 },
          publish: { seconds: 0.5, secondsPerEngine: 0, recomputes: 0, drains: false },
          evaluation: { seconds: 10, everySteps: 5 },
        },
      }),
    );
    // Prompts: 4 · 100 / 1000; 30 passes of 10 ms; the tool; observations: 16 · 50 / 1000; each of
    // four judges has a group: 1 s; learning: 4 · 100 + 16 · 80 tokens, and 2 s; publishing: 0.5 s.
    const step = 0.4 + 0.3 + 3 + 0.8 + 1 + (1.68 + 2) + 0.5;
    const evaluations = 2 * 10;
    expect(report.seconds).toBeCloseTo(10 * step + evaluations, 1);
    expect(report.stepsPerHour).toBeCloseTo((3600 * 10) / (10 * step + evaluations), 1);
    expect(report.learner.utilization).toBeCloseTo((10 * 3.68) / report.seconds, 2);
  });

  it('prefills for the others of a group what the engine does not share', () => {
    const secondsWith = (promptSharing: number): number =>
      simulateCluster(
        simulation('synchronous', {
          groups: [mixed([10])],
          costs: { engine: { ...free.engine, prefillTokensPerSecond: 1000, promptSharing } },
        }),
      ).seconds;
    // Ten steps of four groups, each with a prompt of 100 tokens and three others that ask for it.
    for (const sharing of [0, 0.25, 0.5, 1]) {
      const more = 10 * 4 * 3 * (1 - sharing) * 0.1;
      expect(secondsWith(sharing) - secondsWith(1)).toBeCloseTo(more, 1);
    }
  });

  it('is bound by tools where they are few: servers / seconds calls a second', () => {
    const report = simulateCluster(
      simulation('asynchronous', {
        groups: [mixed([1, 1, 1], { toolSeconds: 2 })],
        size: { engines: 4, learnerGpus: 1, sandboxes: 3, placement: 'separate' },
        settings: { maxStaleness: 4 },
        steps: 60,
        warmSteps: 20,
      }),
    );
    // 16 trajectories a step with 2 calls of 2 s on 3 servers.
    expect(report.stepsPerHour / (3600 / ((16 * 2 * 2) / 3))).toBeCloseTo(1, 1);
    expect(report.tools.utilization).toBeGreaterThan(0.97);
    expect(report.tools.meanQueue).toBeGreaterThan(1);
  });

  it('is bound by the learner where that is slow, and by nothing else', () => {
    const report = simulateCluster(
      simulation('asynchronous', {
        costs: { learner: { ...free.learner, secondsPerStep: 5 } },
        settings: { maxStaleness: 2, tooStale: 'wait' },
      }),
    );
    expect(report.stepsPerHour).toBeCloseTo(720, 0);
    expect(report.learner.utilization).toBeCloseTo(1, 2);
    expect(report.learner.idleSeconds).toBeLessThan(0.1);
  });

  it('is bound by engines where they are slow: tokens a step over tokens a second', () => {
    const report = simulateCluster(
      simulation('asynchronous', {
        groups: [mixed([50, 50])],
        costs: {
          engine: {
            ...free.engine,
            decode: [
              [1, 200],
              [1000, 200],
            ],
          },
        },
        size: { engines: 2, learnerGpus: 1, sandboxes: 8, placement: 'separate' },
        settings: { maxStaleness: 4, tooStale: 'wait' },
        steps: 40,
      }),
    );
    expect(report.stepsPerHour / (3600 / ((16 * 100) / 400))).toBeCloseTo(1, 1);
    expect(report.engines.utilization).toBeGreaterThan(0.95);
  });

  it('loses no token: sampled, learned and trajectories add up', () => {
    const report = simulateCluster(
      simulation('synchronous', {
        groups: [mixed([7, 11], { observationTokens: 13 })],
        size: { engines: 3, learnerGpus: 1, sandboxes: 2, placement: 'separate' },
        costs: {
          engine: {
            ...free.engine,
            decode: [
              [1, 50],
              [8, 100],
            ],
          },
        },
      }),
    );
    const trajectories = 10 * 16;
    expect(report.engines.decodedTokens).toBeCloseTo(trajectories * 18, 3);
    expect(report.sampledTokensPerSecond * report.seconds).toBeCloseTo(trajectories * 18, 3);
    expect(report.learnedTokensPerSecond * report.seconds).toBeCloseTo(
      trajectories * 31 + 10 * 4 * 100,
      3,
    );
    // A prompt is computed once on each engine that has a trajectory of its group.
    const observed = trajectories * 13;
    expect(report.engines.prefilledTokens).toBeGreaterThanOrEqual(10 * 4 * 100 + observed - 1);
    expect(report.engines.prefilledTokens).toBeLessThanOrEqual(3 * 10 * 4 * 100 + observed + 1);
    expect(report.trainedShare).toBe(1);
    expect(report.staleness).toEqual([trajectories]);
  });

  it('is the same for the same seed, and another for another', () => {
    const groups = [5, 50, 500].map((length) => mixed([length, length], { toolSeconds: 1 }));
    const of = (seed: number) =>
      simulateCluster(
        simulation('asynchronous', {
          groups,
          seed,
          costs: { engine: { ...free.engine, decode: [[1, 100]] } },
        }),
      );
    expect(of(1)).toEqual(of(1));
    expect(of(1).seconds).not.toBe(of(2).seconds);
  });

  it('slows both down that share a device, and stops the engine that alternates', () => {
    const flat = [
      [1, 1600],
      [1000, 1600],
    ] as const;
    const of = (placement: (typeof placements)[number]) =>
      simulateCluster(
        simulation('asynchronous', {
          groups: [mixed([100])],
          costs: {
            engine: {
              ...free.engine,
              decode: flat,
            },
            learner: { ...free.learner, secondsPerStep: 1 },
          },
          size: { engines: 1, learnerGpus: 1, sandboxes: 8, placement },
          settings: { maxStaleness: 1, tooStale: 'wait' },
        }),
      ).stepsPerHour;
    // A second of decoding and a second of learning: overlapped, in turns, or both at half speed.
    expect(of('separate')).toBeCloseTo(3600, -1);
    expect(of('alternating')).toBeCloseTo(1800, -1);
    expect(of('shared')).toBeCloseTo(1800, -1);
  });

  it('never trains on what is staler than the bound, under random costs and sizes', () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = randomAt(seed, 'bounds');
      const maxStaleness = random.integer(4);
      const lengths = Array.from({ length: 3 }, () => 1 + random.integer(200));
      const groups = lengths.map((length) =>
        mixed([length, 1 + random.integer(20)], { toolSeconds: 5 * random.uniform() }),
      );
      const report = simulateCluster(
        simulation('asynchronous', {
          groups,
          seed,
          costs: {
            engine: { ...free.engine, decode: [[1, 20 + random.integer(400)]], heldPasses: 8 },
            learner: { ...free.learner, secondsPerStep: 3 * random.uniform() },
            publish: {
              seconds: random.uniform(),
              secondsPerEngine: 0.1,
              recomputes: 1,
              drains: random.uniform() < 0.5,
            },
          },
          size: {
            engines: 1 + random.integer(3),
            learnerGpus: 1,
            sandboxes: 1 + random.integer(8),
            placement: random.pick(placements),
          },
          settings: {
            maxStaleness,
            tooStale: random.pick(['drop', 'wait']),
            onUpdate: random.pick(['continue', 'restart']),
          },
        }),
      );
      expect(report.staleness.length).toBeLessThanOrEqual(maxStaleness + 1);
      expect(report.steps).toBe(10);
    }
  });

  it('runs every scheduler there is to its end', () => {
    const solved = (right: number) =>
      group(
        50,
        [0, 1, 2, 3].map((k) => trajectory([5, 5], { reward: k < right ? 1 : 0, toolSeconds: 1 })),
      );
    for (const [name, kind] of schedulers.entries()) {
      for (const settings of kind.variants ?? [{}]) {
        const report = simulateCluster(
          simulation(name, { groups: [0, 1, 2, 3, 4].map(solved), settings, steps: 5 }),
        );
        expect(report.stepsPerHour, name).toBeGreaterThan(0);
      }
    }
  });

  it('refuses sizes under which nothing could run, by name', () => {
    const size = { engines: 0, learnerGpus: 1, sandboxes: 1, placement: 'separate' } as const;
    expect(() => simulateCluster(simulation('synchronous', { size }))).toThrow(/engines/);
    expect(() => simulateCluster(simulation('synchronous', { groups: [] }))).toThrow(/trajectory/);
  });
});
