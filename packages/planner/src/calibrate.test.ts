import { expect, it } from 'vitest';
import { calibrateOpening } from './calibrate.ts';
import { simulateCluster } from './cluster.ts';
import { readCosts } from './costs-file.ts';
import { simulationOf } from './plan.ts';

it('puts down to opening environments what a step took longer than simulated', () => {
  const document = readCosts({
    engine: { decode: [[64, 1000]], prefillTokensPerSecond: 1e5 },
    learner: { secondsPerToken: 1e-5 },
    scheduler: { name: 'synchronous', promptsPerStep: 2 },
    training: { groupSize: 4, concurrency: 64 },
  });
  const secondsOf = ({ costs }: typeof document): number => {
    const simulation = simulationOf({ ...document, costs }, { steps: 20, seed: 1 });
    const size = { ...simulation.size, sandboxes: 64, placement: 'alternating' } as const;
    const { seconds, steps } = simulateCluster({ ...simulation, size });
    return seconds / steps;
  };
  const before = secondsOf(document);
  const calibrated = calibrateOpening(document, before + 3);
  expect(secondsOf(calibrated)).toBeCloseTo(before + 3, 1);
  expect(calibrateOpening(document, before / 2).costs.tools.openSeconds).toBe(0);
});
