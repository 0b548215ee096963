/** Reading examples of `card-video`: frames in the context, one of which at least shows the digit. */
import { type EventSink, randomAt } from '@saccade/core';
import {
  CARD_VIDEO_SIZE,
  cardVideoQuestion,
  defaultCardVideo,
  drawCardClip,
  type Task,
  uniformIndices,
} from '@saccade/gym';
import type { Trajectory } from '@saccade/trajectory';
import { inChunks } from './in-chunks.ts';
import { answeredAtOnce, type OneTurnOptions } from './one-turn.ts';

/** Options of `videoReadings`. Example `i` depends on `seed` and `i` alone. */
export interface VideoReadingOptions extends OneTurnOptions {
  readonly seed: number;
  readonly count: number;
  /**
   * Frames given at equal distances: so many, a half, a quarter or an eighth of them, in equal shares;
   * 0 for those of one to three looks.
   */
  readonly frames: number;
  readonly onEvent?: EventSink;
}

/** Clips no task is made of: indices of the training split beyond those that are rolled out. */
export const FIRST_READING = 500_000;
/** One cold start is to serve fewer frames as well. */
const SHARES = [1, 2, 4, 8] as const;

/** Clips of the training split as one-turn trajectories. They need no sandbox. */
export function videoReadings(options: VideoReadingOptions): Promise<Trajectory[]> {
  return inChunks('readings', options, (index) => reading(options, index));
}

async function reading(options: VideoReadingOptions, index: number): Promise<Trajectory> {
  const { seed, frames } = options;
  const { frameCount } = defaultCardVideo;
  const random = randomAt(seed, 'video-reading', index);
  const given = Math.max(1, Math.round(frames / random.pick(SHARES)));
  for (;;) {
    const clip = drawCardClip('train', FIRST_READING + random.integer(FIRST_READING));
    const [start, end] = clip.facts.digit;
    const looks = [
      start + random.integer(end - start),
      ...Array.from({ length: random.integer(3) }, () => random.integer(frameCount)),
    ];
    const indices = frames > 0 ? uniformIndices(frameCount, given) : random.shuffle(looks);
    // Where no frame shows the digit there is nothing to read.
    if (!indices.some((i) => start <= i && i < end)) continue;
    const size = { width: CARD_VIDEO_SIZE, height: CARD_VIDEO_SIZE };
    const pngs = await Promise.all(indices.map((i) => clip.frame(i)));
    const task: Task = {
      id: `video-reading-${String(index).padStart(6, '0')}`,
      question: cardVideoQuestion,
      images: pngs.map((png, i) => ({ name: `image_clue_${i}`, png, ...size })),
      answer: clip.answer,
      metadata: {},
    };
    return answeredAtOnce(task, options);
  }
}
