/** What `codevision-nano` and `codedance-nano` share, so that they can share one cold start. */
import type { PartialConfig } from '../config.ts';

export const turnedColdStart: PartialConfig = {
  policy: 'nano',
  protocol: 'pyvision-image-short',
  sharedPrefix: true,
  sft: {
    examples: 'turned-needle',
    demonstrations: 768,
    tours: 1280,
    tourCards: 4,
    readings: 8192,
    captions: 16384,
    updates: 760,
    batchSize: 12,
    tourBatchSize: 18,
    readingBatchSize: 12,
    captionBatchSize: 128,
    answerWithoutLooking: 0.25,
    learningRate: 8e-4,
    finalFraction: 0.03,
  },
  rollout: { maxToolTurns: 6, maxImages: 8 },
  evaluation: { count: 200, temperature: 1 },
  checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 2 },
};
