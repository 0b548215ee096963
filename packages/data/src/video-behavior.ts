/** The behavior of a demonstrator of `card-video`: a strip of small frames, then full frames. */
import type { Random } from '@saccade/core';
import { type CardVideoFacts, defaultCardVideo } from '@saccade/gym';
import type { DemonstrationMix } from './behavior.ts';

/** The strip: every sixth frame, 16 of them. */
export const STRIP_STRIDE = 6;
export const STRIP_FRAMES: number = defaultCardVideo.frameCount / STRIP_STRIDE;
/**
 * Frames after the first of the strip that has the card. It was put there in the six frames before, and
 * turned five later: one of these two shows its digit.
 */
const OFFSETS = [2, 5] as const;

/** The frame of the first look after the strip; the second is for where it misses. */
export function firstLook({ card }: CardVideoFacts): number {
  return Math.ceil(card[0] / STRIP_STRIDE) * STRIP_STRIDE + OFFSETS[0];
}

/** The strip, or the index of a frame. */
export type VideoStep = 'strip' | number;

/**
 * The steps before the answer, in order. Like the demonstrations of `needle` these are sound, but
 * answer too early and look at wrong times; `maxLooks` counts the strip.
 */
export function planVideo(
  facts: CardVideoFacts,
  mix: DemonstrationMix,
  random: Random,
): readonly VideoStep[] {
  if (random.uniform() < mix.answerWithoutLooking) return [];
  const steps: VideoStep[] = ['strip'];
  const first = firstLook(facts) - OFFSETS[0];
  const { digit } = facts;
  let visits = 0;
  let hasSeen = false;
  while (steps.length < mix.maxLooks) {
    if (random.uniform() < (hasSeen ? mix.answerAfterSeeing : mix.answerAfterMissing)) break;
    if (visits === OFFSETS.length && !mix.beginsAgain) break;
    const isLost = random.uniform() < mix.lookAtNothing;
    const from = isLost ? random.integer(STRIP_FRAMES) * STRIP_STRIDE : first;
    const offset = OFFSETS[(isLost ? random.integer(2) : visits++) % OFFSETS.length] as number;
    const frame = from + offset;
    steps.push(frame);
    hasSeen ||= digit[0] <= frame && frame < digit[1];
  }
  return steps;
}
