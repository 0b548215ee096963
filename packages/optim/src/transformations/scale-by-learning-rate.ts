/** The end of a chain: scales the updates to a step against the gradient. */
import { scale } from '../arrays.ts';
import type { Schedule } from '../schedule.ts';
import { emptyState, stateNumber } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/**
 * u ← −η·u
 *
 * @param schedule  η by update, counted from 0 in the state's `update`. Without one, η is the
 *                  caller's learning rate of the update, and there is no state
 */
export function scaleByLearningRate(schedule?: Schedule): Transformation {
  return {
    init: () => (schedule === undefined ? emptyState : { numbers: { update: 0 }, tensors: {} }),
    async update(updates, state, _, { learningRate }) {
      const index = schedule === undefined ? 0 : stateNumber(state, 'update');
      const rate = schedule === undefined ? learningRate : schedule(index);
      for (const update of Object.values(updates)) scale(update, -rate);
      return schedule === undefined ? state : { ...state, numbers: { update: index + 1 } };
    },
  };
}
