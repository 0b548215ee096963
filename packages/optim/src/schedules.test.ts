import { describe, expect, it } from 'vitest';
import { constant, linearDecay, linearWarmup, type Schedule, warmupCosine } from './schedules.ts';

const shape = { warmupSteps: 10, totalSteps: 110, finalFraction: 0.1 };

describe('schedules', () => {
  it.each<[string, Schedule, readonly (readonly [number, number])[]]>([
    [
      'constant stays',
      constant(2),
      [
        [0, 2],
        [1000, 2],
      ],
    ],
    [
      'linearWarmup rises and stays',
      linearWarmup(2, 4),
      [
        [0, 0.5],
        [3, 2],
        [9, 2],
      ],
    ],
    ['linearWarmup over no steps is at its peak', linearWarmup(2, 0), [[0, 2]]],
    [
      'linearDecay falls along a line to its end',
      linearDecay(1, shape),
      [
        [0, 0.1],
        [9, 1],
        [10, 1],
        [60, 0.55],
        [110, 0.1],
        [500, 0.1],
      ],
    ],
    [
      'warmupCosine falls along half a cosine',
      warmupCosine(1, shape),
      // A quarter of the way: 0.1 + 0.9·½(1 + cos 45°).
      [
        [0, 0.1],
        [9, 1],
        [10, 1],
        [35, 0.8681980515339464],
        [60, 0.55],
        [110, 0.1],
        [500, 0.1],
      ],
    ],
    [
      'warmupCosine ends at zero by default',
      warmupCosine(1, { warmupSteps: 0, totalSteps: 10 }),
      [
        [0, 1],
        [10, 0],
      ],
    ],
  ])('%s', (_, schedule, points) => {
    for (const [step, rate] of points) expect(schedule(step), `step ${step}`).toBeCloseTo(rate, 12);
  });
});
