/** Kinds of things to choose from; things have more than one name, so a question says which it means. */
import type { Random } from '@saccade/core';
import type { Pictogram } from './pictograms.ts';

const OPTIONS = 6;

/**
 * Names of kinds within a sentence, one of them the answer: those that are shown first, then others,
 * in random order.
 */
export function optionsOf(
  answer: Pictogram,
  shown: readonly Pictogram[],
  kinds: readonly Pictogram[],
  random: Random,
): string {
  const others = [...random.shuffle(shown), ...random.shuffle(kinds)];
  const names = new Set([answer, ...others].map(({ name }) => name));
  const listed = random.shuffle([...names].slice(0, OPTIONS));
  return `${listed.slice(0, -1).join(', ')}, or ${listed.at(-1)}`;
}
