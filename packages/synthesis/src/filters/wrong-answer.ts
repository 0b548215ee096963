import { z } from 'zod';
import { defineFilter } from '../filter.ts';

/** Drops trajectories that failed, did not answer, or whose answer the verifier refuses. */
export const wrongAnswer = defineFilter({
  name: 'wrong-answer',
  description: 'Drops what failed, what has no answer, and wrong answers by the verifier.',
  settings: z.strictObject({}),
  drops({ trajectory: { stopReason }, isCorrect }) {
    if (stopReason !== 'answered') return `ended as ${stopReason}`;
    return isCorrect ? undefined : 'wrong answer';
  },
});
