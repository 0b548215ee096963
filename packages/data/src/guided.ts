/** Guided examples: demonstrations whose decisions are given, so that the loss sees none of them. */
import { DataError } from '@saccade/core';
import type { Processor } from '@saccade/policy';
import type { Segment, Trajectory } from '@saccade/trajectory';

/** A turn has decided what it does once it said one of these: to look, to answer. */
const DECISIONS: readonly string[] = ['<code>', '<answer>'];

/** The same where code may also turn the picture: to turn, to look, to answer. */
export const turnedDecisions: readonly string[] = [
  'image_clue_0 = image_clue_0.',
  'image_clue_0.crop',
  '<answer>',
];

/**
 * The same trajectory with the first tokens of every turn, those that decide what it does, moved
 * into the tokens before it. What is left to learn is how looks and answers are written, where cards
 * are and what they show; whether and how often to look is not taught.
 *
 * @param decisions what a turn has said once it has decided
 * @throws DataError if a turn neither looks nor answers
 */
export function guide(
  demonstration: Trajectory,
  processor: Processor,
  decisions: readonly string[] = DECISIONS,
): Trajectory {
  const segments: Segment[] = [];
  for (const segment of demonstration.segments) {
    const before = segments.at(-1);
    if (segment.kind !== 'model' || before === undefined) {
      segments.push(segment);
      continue;
    }
    const { count, text } = decisionOf(segment, processor, decisions);
    segments[segments.length - 1] = {
      ...before,
      tokens: Int32Array.from([...before.tokens, ...segment.tokens.subarray(0, count)]),
      text: before.text + text,
    };
    segments.push({
      ...segment,
      tokens: segment.tokens.slice(count),
      ...(segment.logprobs && { logprobs: segment.logprobs.slice(count) }),
      text: segment.text.slice(text.length),
    });
  }
  return { ...demonstration, id: `${demonstration.id}/guided`, segments };
}

/** The fewest first tokens that say what a turn does, and their text. */
function decisionOf(
  { tokens, text }: Segment,
  processor: Processor,
  decisions: readonly string[],
): { readonly count: number; readonly text: string } {
  for (let count = 1; count <= tokens.length; count++) {
    const said = processor.decode(tokens.subarray(0, count));
    if (decisions.some((decision) => said.includes(decision))) return { count, text: said };
  }
  throw new DataError(`A demonstrated turn is neither a look nor an answer: ${text}`);
}
