import { expect, it } from 'vitest';
import { type Busy, speedsOf } from './machine.ts';

const idle: Busy = {
  engines: 0,
  isLearning: false,
  isPublishing: false,
  isMainBusy: false,
  sandboxes: 0,
};
const costs = { processors: 2, engineProcessors: 1.5, learnerProcessors: 2, engineMainThread: 0.5 };

it('slows nothing down that has processors of its own', () => {
  const all = { ...idle, engines: 1, isMainBusy: true, sandboxes: 50 };
  expect(speedsOf(all, { ...costs, processors: 0 }, 'shared').sandboxes).toBe(1);
  expect(speedsOf(all, costs, 'separate')).toEqual({
    engine: 1,
    learner: 1,
    main: 1,
    sandboxes: 1,
  });
});

it('gives every busy thread the same of the processors there are', () => {
  const busy = { ...idle, engines: 1, sandboxes: 3 };
  const { engine, sandboxes } = speedsOf(busy, costs, 'shared');
  expect(engine).toBeCloseTo(2 / 4.5, 12);
  expect(sandboxes).toBeCloseTo(2 / 4.5, 12);
  // Below what there is, nobody waits.
  expect(speedsOf({ ...idle, sandboxes: 2 }, costs, 'shared').sandboxes).toBe(1);
});

it('never gives out more processors than there are', () => {
  for (const engines of [0, 1]) {
    for (const sandboxes of [0, 1, 9]) {
      for (const [isLearning, isMainBusy] of [
        [false, true],
        [true, false],
        [true, true],
      ] as const) {
        for (const placement of ['alternating', 'shared'] as const) {
          const busy = { ...idle, engines, sandboxes, isLearning, isMainBusy };
          const speeds = speedsOf(busy, costs, placement);
          const used =
            engines * speeds.engine * costs.engineProcessors +
            (isLearning ? speeds.learner * costs.learnerProcessors : 0) +
            (isMainBusy ? speeds.main : 0) +
            sandboxes * speeds.sandboxes;
          expect(used).toBeLessThanOrEqual(2 + 1e-9);
        }
      }
    }
  }
});

it('shares the one main thread of a process between passes of the engine and turns', () => {
  const busy = { ...idle, engines: 1, isMainBusy: true };
  const wide = { ...costs, processors: 64 };
  expect(speedsOf(busy, wide, 'alternating').engine).toBeCloseTo(1 / 1.5, 12);
  expect(speedsOf(busy, wide, 'shared').engine).toBe(1);
});

it('stops the engine of a process that learns, and while weights are published', () => {
  const learning = { ...idle, engines: 1, isLearning: true };
  expect(speedsOf(learning, costs, 'alternating')).toMatchObject({ engine: 0, learner: 1 });
  expect(speedsOf({ ...idle, engines: 1, isPublishing: true }, costs, 'shared').engine).toBe(0);
});
