/** From the rewards of a group to the gradient of every log-prob. */
import { algorithms, explainStep, groupsOfSize, prepareStep } from '@saccade/algorithms';
import { sampled } from './sampled.mjs';

/** @param {string} name of an algorithm */
export function tenLines(name) {
  const { rewards, sequenceOffsets, lossMask, oldLogprobs, logprobs } = sampled;
  const algorithm = algorithms.get(name).with({ clipHigh: 0.28 });
  const sequenceAdvantages = algorithm.groupAdvantages({ rewards });
  const groups = groupsOfSize(rewards.length, rewards.length);
  const step = { rewards, sequenceAdvantages, groups, sequenceOffsets, lossMask, oldLogprobs };
  const { batch, counts } = prepareStep(algorithm, step); // of the step, before it is split
  const { loss, gradLogprobs } = algorithm.loss({ ...batch, logprobs }, counts);
  const explanation = explainStep(algorithm, step, { logprobs });
  return { loss, gradLogprobs, explanation };
}
