/** What `codevision-nano` and `codedance-nano` share, so that they can share one cold start. */
import type { RunInput } from '../run-config.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

export const turnedColdStart: RunInput = {
  model: 'nano',
  protocol: {
    name: 'pyvision-image-short',
    toolTurns: 6,
    images: 8,
    evaluationToolTurns: 6,
    evaluationImages: 8,
  },
  coldStart: {
    name: 'turned-needle',
    demonstrations: 768,
    tours: 1280,
    tourCards: 4,
    readings: 8192,
    captions: 16384,
    batchSize: 12,
    tourBatchSize: 18,
    readingBatchSize: 12,
    captionBatchSize: 128,
    answerWithoutLooking: 0.25,
  },
  sft: { updates: 760, learningRate: 8e-4 },
  ...nanoOptimizers({ sftFinalFraction: 0.03, finalFraction: 0.1 }),
  evaluation: { count: 200, temperature: 1 },
  checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 2 },
};
