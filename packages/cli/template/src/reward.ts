/** The reward of a trajectory: for the right answer, and a little for finding it with one call. */
import { count, z } from '@saccade/core/settings';
import { accuracy, definePreset, defineReward, term } from '@saccade/rewards';
import { countToolCalls } from '@saccade/trajectory';

/** 1 for a right answer after at least one and at most `mostCalls` tool calls, else 0. */
export const fewCalls = defineReward({
  name: 'few-calls',
  scope: 'trajectory',
  description: 'A right answer after one or a few tool calls.',
  paper: 'our own',
  settings: z.strictObject({
    mostCalls: count({
      min: 1,
      max: 100,
      default: 1,
      unit: 'calls',
      about: 'Most tool calls that still count as few.',
    }),
  }),
  range: [0, 1],
  score(trajectory, { isCorrect }, { mostCalls }) {
    const calls = countToolCalls(trajectory);
    return isCorrect && calls >= 1 && calls <= mostCalls ? 1 : 0;
  },
});

/** R = accuracy + 0.2 · few-calls. Another weight: --set reward.few-calls=0.5 */
export const lookOnce = definePreset({
  name: 'look-once',
  paper: 'our own',
  description: 'R = R_accuracy + 0.2 for a right answer after one look',
  terms: [term(accuracy, 1, 'ours'), term(fewCalls, 0.2, 'ours')],
});
