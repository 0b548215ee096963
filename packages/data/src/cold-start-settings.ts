/** Settings that the scripted cold starts share. */
import { count, quantity } from '@saccade/core/settings';
import type { z } from 'zod';

/** A number of examples of a kind. */
export function examplesField(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return count({ min: 0, max: 1_000_000, default: preset, unit: 'examples', about });
}

/** Examples of a kind in an update. */
export function perUpdateField(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return count({ min: 0, max: 65_536, default: preset, unit: 'examples per update', about });
}

/** Probability that a demonstration behaves in some way. */
export function probabilityField(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return quantity({ min: 0, max: 1, default: preset, unit: 'probability', about });
}

/** How many examples of each kind there are, and how many go into an update. */
export const amounts = {
  demonstrations: examplesField(1024, 'Scripted demonstrations, executed in the sandbox.'),
  tours: examplesField(1024, 'Guided demonstrations; they teach where to look and how to read.'),
  readings: examplesField(2048, 'One-turn examples with a card in the context; no sandbox.'),
  captions: examplesField(4096, 'Images of a digit followed by its name: seeing, at little cost.'),
  batchSize: perUpdateField(16, 'Demonstrations per optimizer update.'),
  tourBatchSize: perUpdateField(16, 'Tours per update.'),
  readingBatchSize: perUpdateField(32, 'Readings per update.'),
  captionBatchSize: perUpdateField(64, 'Captions per update.'),
};

/** How demonstrations look and when they answer. */
export const behavior = {
  answerWithoutLooking: probabilityField(0.3, 'Demonstrations that answer before any look.'),
  lookAtNothing: probabilityField(0.1, 'Looks that go to a random place instead of a card.'),
  answerAfterSeeing: probabilityField(0.8, 'Demonstrations that answer once the digit was seen.'),
  answerAfterMissing: probabilityField(
    0.4,
    'Demonstrations that answer after a look that did not show the digit.',
  ),
};

/** Cards on the table of a tour. */
export const tourCards: z.ZodDefault<z.ZodNumber> = count({
  min: 1,
  max: 15,
  default: 4,
  unit: 'cards',
  about: 'Most cards on the table of a tour; more show more places in one image.',
});

/** When a tour ends. */
export const tourAnswerAfterSeeing: z.ZodDefault<z.ZodNumber> = probabilityField(
  0.5,
  'Tours that answer once the digit was seen, instead of looking on.',
);

/** Demonstrations are made at most this many at a time. */
export const CONCURRENCY = 64;

/**
 * Tasks that reinforcement learning skips. Tours and demonstrations show one task each; as many again
 * as there are demonstrations are left out, where the published runs begin.
 */
export function scriptedTasks(settings: {
  readonly demonstrations: number;
  readonly tours: number;
}): number {
  return settings.tours + 2 * settings.demonstrations;
}
