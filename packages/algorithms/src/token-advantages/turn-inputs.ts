/** The inputs that per-turn advantages read from a step. */
import { ConfigError, expectLength, ShapeError } from '@saccade/core';
import type { FloatArray, Step } from '../algorithm.ts';

export interface TurnInputs {
  readonly turns: Int32Array;
  readonly turnOffsets: Int32Array;
  readonly turnRewards: FloatArray;
}

/** @throws ConfigError naming what is missing; ShapeError if the parts do not fit */
export function turnInputsOf(step: Step): TurnInputs {
  const { turns, turnOffsets, turnRewards } = step;
  if (turns === undefined || turnOffsets === undefined || turnRewards === undefined) {
    const missing = [
      ...(turns ? [] : ['turns']),
      ...(turnOffsets ? [] : ['turnOffsets']),
      ...(turnRewards ? [] : ['turnRewards']),
    ];
    throw new ConfigError(
      missing[0] ?? 'turns',
      `Advantages per turn need ${missing.join(' and ')}, and the step has none. ` +
        'Give the turn of each token and the reward of each turn.',
    );
  }
  expectLength('turns', turns.length, step.lossMask.length);
  expectLength('turnOffsets', turnOffsets.length, step.sequenceOffsets.length);
  expectLength('turnRewards', turnRewards.length, turnOffsets.at(-1) ?? 0);
  for (let s = 0; s + 1 < turnOffsets.length; s++) {
    const count = (turnOffsets[s + 1] as number) - (turnOffsets[s] as number);
    const end = step.sequenceOffsets[s + 1] as number;
    for (let t = step.sequenceOffsets[s] as number; t < end; t++) {
      if (step.lossMask[t] === 0) continue;
      const turn = turns[t] as number;
      if (turn >= 0 && turn < count) continue;
      throw new ShapeError(
        `Token ${t} of sequence ${s} is in turn ${turn}, but the sequence has ${count} turns. ` +
          'Count turns from 0 within each sequence.',
      );
    }
  }
  return { turns, turnOffsets, turnRewards };
}

/** [K] discounted sum of the rewards of each turn and those after it in its sequence. */
export function turnReturns(
  { turnOffsets, turnRewards }: TurnInputs,
  discount: number,
): Float64Array {
  const returns = new Float64Array(turnRewards.length);
  for (let s = 0; s + 1 < turnOffsets.length; s++) {
    let running = 0;
    for (let k = (turnOffsets[s + 1] as number) - 1; k >= (turnOffsets[s] as number); k--) {
      running = (turnRewards[k] as number) + discount * running;
      returns[k] = running;
    }
  }
  return returns;
}

/** [N] the sequence's advantage plus `weight` times its turn's, 0 where the mask is 0. */
export function combineWithTurns(
  step: Step,
  { turns, turnOffsets }: TurnInputs,
  turnAdvantages: Float64Array,
  weight: number,
): Float64Array {
  const advantages = new Float64Array(step.lossMask.length);
  for (let s = 0; s + 1 < step.sequenceOffsets.length; s++) {
    const end = step.sequenceOffsets[s + 1] as number;
    for (let t = step.sequenceOffsets[s] as number; t < end; t++) {
      if (step.lossMask[t] === 0) continue;
      const turn = (turnOffsets[s] as number) + (turns[t] as number);
      advantages[t] =
        (step.sequenceAdvantages[s] as number) + weight * (turnAdvantages[turn] as number);
    }
  }
  return advantages;
}
