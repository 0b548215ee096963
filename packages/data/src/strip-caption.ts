/**
 * Captions of film strips: the strip of a clip and right after it the frame that is worth a look. When a
 * card is on the table is learned from them, at a fraction of what a conversation costs.
 */
import { type EventSink, randomAt } from '@saccade/core';
import { drawCardClip, drawFilmStrip } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { ModelImages } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';
import { captioned } from './caption.ts';
import { inChunks } from './in-chunks.ts';
import { firstLook, STRIP_FRAMES, STRIP_STRIDE } from './video-behavior.ts';
import { FIRST_READING } from './video-reading.ts';

/** Options of `stripCaptions`. Example `i` depends on `seed` and `i` alone. */
export interface StripCaptionOptions {
  readonly processor: Processor;
  readonly images: ModelImages;
  readonly seed: number;
  readonly count: number;
  readonly onEvent?: EventSink;
}

/** Strips are cut so short, as often as left whole: a card is found the sooner the less is around it. */
const LENGTHS = [1, 2, 4, 8, STRIP_FRAMES] as const;

/** Strips of clips of the training split, as trajectories of one image and one number. */
export function stripCaptions(options: StripCaptionOptions): Promise<Trajectory[]> {
  return inChunks('strips', options, (index) => {
    const random = randomAt(options.seed, 'strip', index);
    const clip = drawCardClip('train', FIRST_READING + random.integer(FIRST_READING));
    const look = firstLook(clip.facts);
    // The image that has the card first is always in it.
    const card = Math.floor(look / STRIP_STRIDE);
    const length = random.pick(LENGTHS);
    const first = Math.max(0, card - length + 1);
    const last = Math.min(STRIP_FRAMES - length, card);
    const start = first + random.integer(last - first + 1);
    const frames = Array.from({ length }, (_, i) => clip.image((start + i) * STRIP_STRIDE));
    return captioned(drawFilmStrip(frames), String(look), index, options);
  });
}
