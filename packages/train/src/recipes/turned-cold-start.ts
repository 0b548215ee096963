/** The cold start that `codevision-nano` and `codedance-nano` share, each in its own protocol. */
import type { RunInput } from '../run-config.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

/** Limits of both protocols: a turn, a look and an answer need three, a policy that errs more. */
export const turnedLimits = {
  toolTurns: 6,
  images: 8,
  evaluationToolTurns: 6,
  evaluationImages: 8,
} as const;

export const turnedColdStart: RunInput = {
  model: 'nano',
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
