/** An algorithm of one's own: GRPO whose baseline is the median of the group instead of its mean. */
import { clipped, composeAlgorithm, type GroupAdvantage } from '@saccade/algorithms';

/** A_i = R_i − median(R): one lucky trajectory does not push all others down. */
export const medianAdvantage: GroupAdvantage = ({ rewards }) => {
  const sorted = Float64Array.from(rewards).sort();
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return Float64Array.from(rewards, (reward) => reward - (low + high) / 2);
};

export const medianGrpo = composeAlgorithm({
  name: 'median-grpo',
  paper: 'our own',
  description: 'GRPO with the median of the group as baseline.',
  // Its own settings beside those of every algorithm: --set algorithm.clipHigh=0.2
  settings: clipped.settings,
  defaults: { clipHigh: 0.28 },
  profiles: {},
  choose: (settings) => ({ groupAdvantage: medianAdvantage, surrogate: clipped(settings) }),
});
