/** Guided examples: demonstrations whose decisions are given, so that the loss sees none of them. */
import { DataError } from '@saccade/core';
import type { Processor } from '@saccade/policy';
import type { Segment, Trajectory } from '@saccade/trajectory';

/** Where what a turn says begins, after what it decided: a look's box, an answer's digit. */
const CONTENT_STARTS = ['((', '\\boxed{'] as const;

/**
 * The same trajectory with the beginning of every turn moved into the tokens before it. What is left
 * to learn is where cards are and what they show; whether and how often to look is not taught.
 *
 * @throws DataError if a turn is no look and no answer, or the tokenizer merges across that point
 */
export function guide(demonstration: Trajectory, processor: Processor): Trajectory {
  const segments: Segment[] = [];
  for (const segment of demonstration.segments) {
    const before = segments.at(-1);
    if (segment.kind !== 'model' || before === undefined) {
      segments.push(segment);
      continue;
    }
    const length = decisionLength(segment.text);
    const given = processor.encodeModelText(segment.text.slice(0, length), false);
    if (!given.every((token, i) => token === segment.tokens[i])) {
      throw new DataError(
        `The tokenizer merges across the beginning of what a turn says: ${segment.text}`,
      );
    }
    segments[segments.length - 1] = {
      ...before,
      tokens: Int32Array.from([...before.tokens, ...given]),
      text: before.text + segment.text.slice(0, length),
    };
    segments.push({
      ...segment,
      tokens: segment.tokens.slice(given.length),
      ...(segment.logprobs && { logprobs: segment.logprobs.slice(given.length) }),
      text: segment.text.slice(length),
    });
  }
  return { ...demonstration, id: `${demonstration.id}/guided`, segments };
}

function decisionLength(text: string): number {
  for (const start of CONTENT_STARTS) {
    const at = text.indexOf(start);
    if (at >= 0) return at + start.length;
  }
  throw new DataError(`A demonstrated turn is neither a look nor an answer: ${text}`);
}
