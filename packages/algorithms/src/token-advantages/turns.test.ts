import { ConfigError, ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { Step } from '../algorithm.ts';
import { numbers } from '../step.fixture.ts';
import { turnGroups } from './turn-groups.ts';
import { turnReturnsStandardized } from './turn-returns.ts';

/** Four trajectories of one token per turn; −½ where a turn's code failed, the last turn answers. */
function turnStep(turnRewards: readonly (readonly number[])[], groups: readonly number[]): Step {
  const counts = turnRewards.map((own) => own.length);
  const offsets = Int32Array.from([0, ...counts.map((_, s) => sum(counts.slice(0, s + 1)))]);
  return {
    sequenceOffsets: offsets,
    lossMask: new Float64Array(sum(counts)).fill(1),
    groups: Int32Array.from(groups),
    sequenceAdvantages: new Float64Array(counts.length),
    rewards: new Float64Array(counts.length),
    turns: Int32Array.from(counts.flatMap((count) => Array.from({ length: count }, (_, k) => k))),
    turnOffsets: offsets,
    turnRewards: Float64Array.from(turnRewards.flat()),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

// (fail, ok, answer), (ok, fail, answer), (fail, fail, answer), (ok, answer).
const failures = [
  [-0.5, 0, 0],
  [0, -0.5, 0],
  [-0.5, -0.5, 0],
  [0, 0],
];

describe('turn returns', () => {
  const standardize = turnReturnsStandardized({ turnDiscount: 0.2, turnWeight: 1 });

  it('equal the hand-worked example of CodeDance', () => {
    // Returns −0.5, 0 | −0.1, −0.5 | −0.6, −0.5 | 0 without the last turns: mean −0.3143, population
    // std 0.2474.
    const { advantages } = standardize(turnStep(failures, [0, 0, 0, 0]));
    expect(numbers(advantages, 4)).toEqual([
      -0.7506, 1.2702, 0, 0.866, -0.7506, 0, -1.1547, -0.7506, 0, 1.2702, 0,
    ]);
  });

  it('come on top of the sequence’s advantage, with their weight', () => {
    const step = turnStep(failures, [0, 0, 0, 0]);
    const half = turnReturnsStandardized({ turnDiscount: 0.2, turnWeight: 0.5 });
    const { advantages } = half({ ...step, sequenceAdvantages: Float64Array.of(1, 2, 3, 4) });
    expect(numbers(advantages.slice(0, 3), 4)).toEqual([0.6247, 1.6351, 1]);
  });

  it('are 0 where nothing failed, and raw where nothing varies', () => {
    const calm = turnStep(
      [
        [0, 0],
        [0, 0],
      ],
      [0, 0],
    );
    expect([...standardize(calm).advantages]).toEqual([0, 0, 0, 0]);
    const uniform = turnStep(
      [
        [-0.5, 0],
        [-0.5, 0],
      ],
      [0, 0],
    );
    expect([...standardize(uniform).advantages]).toEqual([-0.5, 0, -0.5, 0]);
  });

  it('name what is missing, and turns a sequence does not have', () => {
    const { turns: _, ...bare } = turnStep(failures, [0, 0, 0, 0]);
    expect(() => standardize(bare)).toThrow(ConfigError);
    expect(() => standardize(bare)).toThrow(/need turns, and the step has none/);
    const wrong = { ...turnStep([[0, 0]], [0]), turns: Int32Array.of(0, 2) };
    expect(() => standardize(wrong)).toThrow(ShapeError);
    expect(() => standardize(wrong)).toThrow(/in turn 2, but the sequence has 2 turns/);
  });
});

describe('turn groups', () => {
  const credit = turnGroups({ turnDiscount: 0, turnWeight: 1, scale: 'none' });

  it('compare each turn with the same turn of the group’s other trajectories', () => {
    const { advantages } = credit(turnStep([[-0.5, 0], [0, 0], [-0.5, 0], [0]], [0, 0, 1, 1]));
    // Turn 0: mean −¼ in both groups; turn 1: equal in the first, alone in the second.
    expect([...advantages]).toEqual([-0.25, 0, 0.25, 0, -0.25, 0, 0.25]);
  });

  it('tell the turn that failed from the one that did not, at the same total', () => {
    const { advantages } = credit(
      turnStep(
        [
          [-0.5, 0, 0],
          [0, -0.5, 0],
        ],
        [0, 0],
      ),
    );
    expect([...advantages]).toEqual([-0.25, 0.25, 0, 0.25, -0.25, 0]);
  });
});
