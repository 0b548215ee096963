/** Guided examples: demonstrations whose decisions are given, so that the loss sees none of them. */
import { DataError } from '@saccade/core';
import type { Hand, HandSigns } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { Segment, Trajectory } from '@saccade/trajectory';

/** Signs that tell apart what the turns of a script may do. */
export type Decisions = 'actOrAnswer' | 'turnLookOrAnswer';

/** Texts of a protocol's own by which turns are told apart, e.g. the names of its tools. */
type Signs = readonly string[];

/**
 * The same trajectory with the first tokens of every turn, those that decide what it does, moved
 * into the tokens before it. What is left to learn is how looks and answers are written, where cards
 * are and what they show; whether and how often to look is not taught.
 *
 * @param hand of the protocol that wrote it
 * @param decisions which steps are told apart: to act or to answer; or to turn, to look or to answer; or the signs that tell them apart
 * @throws DataError if a turn neither looks nor answers
 */
export function guide(
  demonstration: Trajectory,
  processor: Processor,
  hand: Hand,
  decisions: Decisions | Signs = 'actOrAnswer',
): Trajectory {
  const names = demonstration.segments[0]?.images.map(({ name }) => name) ?? [];
  const signs = signsOf(hand.signs(names), decisions);
  const segments: Segment[] = [];
  for (const segment of demonstration.segments) {
    const before = segments.at(-1);
    if (segment.kind !== 'model' || before === undefined) {
      segments.push(segment);
      continue;
    }
    const { count, text } = decisionOf(segment, processor, signs);
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

function signsOf({ act, answer, turn = [], look = [] }: HandSigns, decisions: Decisions | Signs) {
  if (decisions === 'actOrAnswer') return [...act, ...answer];
  return [...(decisions === 'turnLookOrAnswer' ? [...turn, ...look] : decisions), ...answer];
}

/** The fewest first tokens that say what a turn does, and their text. */
function decisionOf(
  { tokens, text }: Segment,
  processor: Processor,
  signs: readonly string[],
): { readonly count: number; readonly text: string } {
  for (let count = 1; count <= tokens.length; count++) {
    const said = processor.decode(tokens.subarray(0, count));
    if (signs.some((sign) => said.includes(sign))) return { count, text: said };
  }
  throw new DataError(`A demonstrated turn is neither a look nor an answer: ${text}`);
}
