/** Four answers to one task, as a sampler and a trainer would give them. */
export const sampled = {
  /** Two are right. */
  rewards: Float64Array.of(1, 0, 1, 0),
  /** Answers of 3, 2, 2 and 3 tokens. */
  sequenceOffsets: Int32Array.of(0, 3, 5, 7, 10),
  /** The second token of the last answer was written by a tool. */
  lossMask: Float64Array.of(1, 1, 1, 1, 1, 1, 1, 1, 0, 1),
  /** At the start of the step, nats. */
  oldLogprobs: Float64Array.of(-0.9, -1.1, -0.4, -1.4, -0.5, -1.6, -1.7, -0.2, -9, -0.8),
  /** Now, nats. */
  logprobs: Float64Array.of(-0.5, -1.2, -0.3, -2, -0.4, -1.1, -1.7, -0.6, -9, -0.7),
};
