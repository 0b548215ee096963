/** The behavior of a demonstrator of `needle`: where it looks, and when it stops looking. */
import type { Random } from '@saccade/core';
import type { Box, NeedleFacts } from '@saccade/gym';

/**
 * How demonstrations behave. They write sound code and read what they see, but look too rarely, at
 * wrong places, and stop too early: that is left for reinforcement learning to improve.
 */
export interface DemonstrationMix {
  /** Probability of answering before any look; such answers teach nothing but to guess. */
  readonly answerWithoutLooking: number;
  /** Probability that a look goes to an empty place instead of the next card. */
  readonly lookAtNothing: number;
  /** Probability, after the digit was seen, of answering instead of looking on. */
  readonly answerAfterSeeing: number;
  /** Probability, while the digit was not seen, of answering anyway. */
  readonly answerAfterMissing: number;
  /** Whether a look after the last card goes back to the first card, instead of answering. */
  readonly beginsAgain: boolean;
  /** Looks at most. */
  readonly maxLooks: number;
}

/**
 * A mix to start from: 30 % of the demonstrations answer without a look, and a tenth of the looks
 * go to an empty place. The recipes set their own.
 */
export const defaultMix: DemonstrationMix = {
  answerWithoutLooking: 0.3,
  lookAtNothing: 0.1,
  answerAfterSeeing: 0.8,
  answerAfterMissing: 0.4,
  beginsAgain: false,
  maxLooks: 4,
};

/**
 * Tours: every card is visited until the digit was seen, and half of the time one more after it. They
 * start over after the last card, so that a look after it is not a new situation.
 */
export const tourMix: DemonstrationMix = {
  answerWithoutLooking: 0,
  lookAtNothing: 0,
  answerAfterSeeing: 0.5,
  answerAfterMissing: 0,
  beginsAgain: true,
  maxLooks: 4,
};

/** Boxes to look at, in order, before the answer. Cards are visited in reading order. */
export function planLooks(
  facts: NeedleFacts,
  mix: DemonstrationMix,
  random: Random,
): readonly Box[] {
  const looks: Box[] = [];
  if (random.uniform() < mix.answerWithoutLooking) return looks;
  const cards = cardsInOrder(facts);
  let visits = 0;
  let hasSeen = false;
  while (looks.length < mix.maxLooks) {
    if (visits === cards.length && !mix.beginsAgain) break;
    const isLost = random.uniform() < mix.lookAtNothing;
    const next = isLost ? random.pick(facts.places) : (cards[visits++ % cards.length] as Box);
    looks.push(next);
    hasSeen ||= next.every((side, i) => side === facts.box[i]);
    if (random.uniform() < (hasSeen ? mix.answerAfterSeeing : mix.answerAfterMissing)) break;
  }
  return looks;
}

/** The cards in reading order: top to bottom, left to right. */
function cardsInOrder(facts: NeedleFacts): Box[] {
  return [facts.box, ...facts.decoys].sort((a, b) => a[1] - b[1] || a[0] - b[0]);
}
