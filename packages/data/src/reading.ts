/**
 * Reading examples: looks at cards in the context and the digit that one of them shows as the answer.
 * They need no sandbox.
 */
import { type EventSink, randomAt, span } from '@saccade/core';
import {
  defaultNeedle,
  drawDecoy,
  drawLook,
  encodeImage,
  mnist,
  needleQuestion,
  type Task,
} from '@saccade/gym';
import type { Trajectory } from '@saccade/trajectory';
import { inChunks } from './in-chunks.ts';
import { answeredAtOnce, type OneTurnOptions } from './one-turn.ts';

/** Options of `readingExamples`. Example `i` depends on `seed` and `i` alone. */
export interface ReadingOptions extends OneTurnOptions {
  readonly seed: number;
  readonly count: number;
  /** Ends their making. */
  readonly signal?: AbortSignal;
  readonly onEvent?: EventSink;
}

/** Looks with a digit of the training split among them, as one-turn trajectories. */
export function readingExamples(options: ReadingOptions): Promise<Trajectory[]> {
  return inChunks('readings', options, (index) => readingExample(options, index));
}

async function readingExample(options: ReadingOptions, index: number): Promise<Trajectory> {
  const random = randomAt(options.seed, 'reading', index);
  const digits = mnist('train');
  const digit = random.integer(digits.count);
  const { cards, texture } = defaultNeedle;
  const decoys = Array.from({ length: random.integer(cards) }, () => drawDecoy(digits, random));
  const looks = random
    .shuffle([digits.pixels(digit), ...decoys])
    .map((ink) => span('images/draw', () => drawLook(ink, texture, random)));
  const task: Task = {
    id: `reading-${String(index).padStart(6, '0')}`,
    question: needleQuestion,
    images: await Promise.all(
      looks.map(async (look, i) => ({
        name: `image_clue_${i}`,
        png: await encodeImage(look),
        width: look.width,
        height: look.height,
      })),
    ),
    answer: String(digits.label(digit)),
    metadata: {},
  };
  return answeredAtOnce(task, options);
}
