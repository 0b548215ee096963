/** Three losses on the same step: from rewards to the gradient of every log-prob, without a model. */
import { algorithms, groupsOfSize, prepareStep, selectTokens } from '@saccade/algorithms';

// Two tasks, two trajectories each; all arrays are flat: 4 sequences, 10 tokens.
const groupSize = 2;
const rewards = Float64Array.of(1, 0, 0.2, 1.1);
const sequenceOffsets = Int32Array.of(0, 2, 5, 8, 10);
const lossMask = Float64Array.of(1, 1, 1, 0, 1, 1, 1, 1, 1, 1); // 0: a tool wrote this token
const oldLogprobs = Float64Array.of(-0.7, -1.2, -0.9, -0.1, -2.1, -0.4, -0.8, -1.5, -0.2, -0.6);
const logprobs = oldLogprobs.map((value, index) => value + 0.05 * Math.sin(index));

for (const name of ['grpo', 'dapo', 'tapo']) {
  const algorithm = algorithms.get(name);
  const sequenceAdvantages = new Float64Array(rewards.length);
  for (let first = 0; first < rewards.length; first += groupSize) {
    const group = rewards.subarray(first, first + groupSize);
    sequenceAdvantages.set(algorithm.groupAdvantages({ rewards: group }), first);
  }
  const prepared = prepareStep(algorithm, {
    rewards,
    sequenceAdvantages,
    groups: groupsOfSize(rewards.length, groupSize),
    sequenceOffsets,
    lossMask,
    oldLogprobs,
  });
  const entropy = new Float64Array(logprobs.length).fill(1);
  const current = { ...prepared.batch, logprobs, entropy };
  const { batch, counts } = selectTokens(algorithm, current, prepared.counts);
  const { loss, gradLogprobs } = algorithm.loss(batch, counts);
  const norm = Math.hypot(...gradLogprobs);
  console.log(`${name}: loss ${loss.toFixed(6)}, gradient norm ${norm.toFixed(6)}`);
  if (!Number.isFinite(loss) || norm === 0) throw new Error(`${name} gave no gradient`);
}
