import { type Box, type Hand, pyvisionImageShort } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder, trajectoryViolations } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { guide } from './guided.ts';

const hand = pyvisionImageShort.hand as Hand;
const answerText = (answer: string) => pyvisionImageShort.write({ kind: 'answer', answer });
const lookText = ([left, top, right, bottom]: Box) =>
  `<code>\n\`\`\`python\nimage_clue_0.crop((${left},${top},${right},${bottom})).show()\n\`\`\`\n</code>`;

const encode = (text: string): Int32Array =>
  Int32Array.from(text, (character) => character.charCodeAt(0));
/** A token for every character. */
const processor = {
  decode: (tokens: Int32Array) => String.fromCharCode(...tokens),
} as unknown as Processor;

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
  const guided = guide(original, processor, hand);

  it('gives what decides to look or to answer, and leaves the rest to the model', () => {
    const said = guided.segments.filter(({ kind }) => kind === 'model').map(({ text }) => text);
    expect(said).toEqual([
      lookText([1, 2, 29, 30]).slice('<code>'.length),
      lookText([5, 6, 33, 34]).slice('<code>'.length),
      answerText('7').slice('<answer>'.length),
    ]);
  });

  it('gives whole tokens where one says more than the decision', () => {
    // Token 0 is all but the last character of a turn, token 1 that character.
    const builder = new TrajectoryBuilder({ id: 'demo', taskId: 'task', sampleIndex: 0 });
    builder.prompt({ tokens: Int32Array.of(9), images: [], text: '?' });
    const text = answerText('7');
    const tokens = Int32Array.of(0, 1);
    builder.model({ tokens, logprobs: new Float32Array(2), text, policyVersion: 0 });
    builder.turn({ kind: 'answer', answer: text });
    const pieces = [text.slice(0, -1), text.slice(-1)];
    const coarse = {
      decode: (some: Int32Array) => Array.from(some, (token) => pieces[token]).join(''),
    } as unknown as Processor;
    const { segments } = guide(builder.finish('answered'), coarse, hand);
    expect(segments.map((segment) => segment.text)).toEqual([`?${pieces[0]}`, pieces[1]]);
    expect(segments.map(({ tokens }) => [...tokens])).toEqual([[9, 0], [1]]);
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

  it('refuses a turn that neither looks nor answers', () => {
    expect(() => guide(demonstration(['hello']), processor, hand)).toThrow(
      /neither a look nor an answer/,
    );
  });
});
