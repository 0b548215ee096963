/** Why an answer is wrong after tools were used, where no rule can tell. */
import { type Judge, judgeLimits, type Untrusted } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/** One use of a tool as the error judge reads it. */
export interface JudgedCall {
  /** The code, or the tool's name with its arguments as JSON. */
  readonly call: Untrusted;
  /** The text that came back, errors included; images are shown apart. */
  readonly result: Untrusted;
}

/** The error judge's input: a wrong answer, the reference, and all that led to it. */
export interface ErrorInput {
  readonly question: string;
  /** The reference. */
  readonly expected: string;
  readonly answer: Untrusted;
  /** The last words of the model; their end is what is judged. */
  readonly thought: Untrusted;
  /** In the order of the turns. */
  readonly calls: readonly JudgedCall[];
  /** PNG bytes: the image asked about, then those that tools made. */
  readonly images: readonly Uint8Array[];
}

/**
 * The first kind of error that made an answer wrong, by its number in the paper's order:
 *
 *   4 a valid call with the wrong content · 5 output that cannot be used · 6 wrong reasoning ·
 *   0 none of them, or it cannot be told
 *
 * VISTA, arXiv:2511.19773, Appendix G.1. There people annotated 500 errors, each with all its kinds;
 * a grade is one number, so this judge names the one that came first. Kinds 1 to 3 are facts of a
 * call, which rules decide, and are not asked about.
 */
export const errorJudge: Judge<ErrorInput> = {
  name: 'error-judge',
  paper: 'arXiv:2511.19773, Appendix G.1',
  grades: [0, 4, 5, 6],
  keyOf: ({ question, expected, answer, thought, calls, images }, limits = judgeLimits) => [
    question,
    expected,
    answer,
    thought.slice(-limits.thoughtCharacters),
    JSON.stringify(calls.map(({ call, result }) => [call, result])),
    ...images.slice(0, limits.images),
  ],
  ask({ question, expected, answer, thought, calls, images }, boundary, limits = judgeLimits) {
    const instruction =
      'Somebody was asked a QUESTION about images, used tools, and gave an ANSWER that is wrong; ' +
      'the REFERENCE is right. Find out what went wrong first. The first image is the one asked ' +
      'about, the others came from tools. Go through the calls in their order. The grade is 4 if a ' +
      'call could be made but aimed at the wrong thing: another region, axis, series or object than ' +
      'the question is about, or a tool that cannot tell what is asked. It is 5 if the calls were ' +
      'right and a tool gave nothing to work with: output that is empty, cut off, garbled, or in a ' +
      'form from which nothing can be read. It is 6 if the tools gave what the answer needs, and it ' +
      'was misread or the conclusion does not follow. It is 0 if you cannot tell, or if it was none ' +
      'of these. Do not look for the answer yourself.\n\n';
    return [
      {
        role: 'system',
        parts: [{ kind: 'text', text: instruction + replyRule(boundary, errorJudge.grades) }],
      },
      {
        role: 'user',
        parts: [
          fenced('QUESTION', question, boundary, limits),
          fenced('REFERENCE', expected, boundary, limits),
          ...calls.flatMap(({ call, result }, index) => [
            fenced(`CALL ${index + 1}`, call, boundary, limits),
            fenced(`RESULT ${index + 1}`, result, boundary, limits),
          ]),
          fenced('THOUGHT', thought.slice(-limits.thoughtCharacters), boundary, limits),
          fenced('ANSWER', answer, boundary, limits),
          ...images.slice(0, limits.images).map((png) => ({ kind: 'image', png }) as const),
        ],
      },
    ];
  },
};
