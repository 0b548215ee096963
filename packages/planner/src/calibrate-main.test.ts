import { expect, it } from 'vitest';
import { calibrateMain } from './calibrate-main.ts';
import { readCosts } from './costs-file.ts';

it('puts down to the main process what the run took of processors beyond its engine', () => {
  const document = readCosts({
    engine: { decode: [[64, 1000]], prefillTokensPerSecond: 1e5, processors: 1.5 },
    learner: { secondsPerToken: 1e-5 },
    machine: { processors: 2 },
    scheduler: { name: 'synchronous', promptsPerStep: 2 },
    training: { groupSize: 4, concurrency: 64 },
  });
  const perTurn = (processorSeconds: number) =>
    calibrateMain(document, { processorSeconds, requests: 20 }).costs.main.secondsPerTurn;
  const [low, high] = [perTurn(1000), perTurn(1010)];
  expect(high - low).toBeCloseTo(10 / 20, 6);
  // The engine’s own part is left out, whatever it is, and nothing below 0 is put down.
  expect(low).toBeGreaterThan(0);
  expect(low).toBeLessThan(1000 / 20);
  expect(perTurn(0)).toBe(0);
});
