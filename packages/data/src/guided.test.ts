import { DataError } from '@saccade/core';
import type { Processor } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder, trajectoryViolations } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { guide } from './guided.ts';
import { answerText, lookText } from './model-text.ts';

const encode = (text: string): Int32Array =>
  Int32Array.from(text, (character) => character.charCodeAt(0));
const processor = { encodeModelText: encode } as unknown as Processor;

function demonstration(texts: readonly string[]): Trajectory {
  const builder = new TrajectoryBuilder({ id: 'demo', taskId: 'task', sampleIndex: 0 });
  texts.forEach((text, i) => {
    const given = i === 0 ? 'question|' : 'observation|';
    if (i === 0) builder.prompt({ tokens: encode(given), images: [], text: given });
    else builder.observation({ tokens: encode(given), images: [], text: given });
    const tokens = encode(text);
    const logprobs = new Float32Array(tokens.length);
    builder.model({ tokens, logprobs, text, policyVersion: 0 });
    const isLast = i === texts.length - 1;
    builder.turn(isLast ? { kind: 'answer', answer: text } : { kind: 'code', code: text });
  });
  return builder.finish('answered');
}

const wholeText = ({ segments }: Trajectory): string => segments.map(({ text }) => text).join('');
const context = ({ segments }: Trajectory): number[] =>
  segments.flatMap(({ tokens }) => [...tokens]);

describe('guide', () => {
  const original = demonstration([
    lookText([1, 2, 29, 30]),
    lookText([5, 6, 33, 34]),
    answerText('7'),
  ]);
  const guided = guide(original, processor);

  it('leaves boxes and digits to the model, and gives everything before them', () => {
    const said = guided.segments.filter(({ kind }) => kind === 'model').map(({ text }) => text);
    expect(said.map((text) => text.slice(0, 9))).toEqual(['1,2,29,30', '5,6,33,34', '7}\n</answ']);
  });

  it('keeps the context token for token, and the ledger in order', () => {
    expect(wholeText(guided)).toBe(wholeText(original));
    expect(context(guided)).toEqual(context(original));
    expect(trajectoryViolations(guided)).toEqual([]);
    for (const { tokens, text } of guided.segments) expect([...tokens]).toEqual([...encode(text)]);
  });

  it('leaves the demonstration as it was', () => {
    expect(original.segments.map(({ text }) => text)[1]).toBe(lookText([1, 2, 29, 30]));
  });

  it('refuses a tokenizer that merges across the decision', () => {
    const merging = { encodeModelText: () => Int32Array.of(1) } as unknown as Processor;
    expect(() => guide(original, merging)).toThrow(DataError);
  });

  it('refuses a turn that neither looks nor answers', () => {
    expect(() => guide(demonstration(['hello']), processor)).toThrow(
      /neither a look nor an answer/,
    );
  });
});
