/** How well a whole trajectory used its tools. */
import { type Judge, judgeLimits, type Untrusted } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/** The process judge's input: the question, everything the model wrote, and the images. */
export interface ProcessInput {
  readonly question: string;
  /** Everything the model wrote, turn after turn. */
  readonly response: Untrusted;
  /** PNG bytes: the image asked about, then those that tools made. */
  readonly images: readonly Uint8Array[];
}

/**
 * How sensibly code was used to look for the answer, from 0 to 1.
 *
 * The public code of CodeV, arXiv:2511.19661: one call for the whole trajectory. Unlike the judge of
 * the paper (`crop-judge`) it sees code and thoughts, and so can be talked to; they stand inside a
 * fence here. The rubric is the one for visual search.
 */
export const processJudge: Judge<ProcessInput> = {
  name: 'process-judge',
  paper: 'CodeV, arXiv:2511.19661, public code',
  grades: [0, 0.25, 0.5, 0.75, 1],
  keyOf: ({ question, response, images }, limits = judgeLimits) => [
    question,
    response,
    ...images.slice(0, limits.images),
  ],
  ask({ question, response, images }, boundary, limits = judgeLimits) {
    const instruction =
      'You grade how somebody used code on an image to find the answer to a QUESTION. The first ' +
      'image is the one asked about, the others are what the code made of it. The grade is 1 if a ' +
      'region that the question needs was shown clearly, 0.75 if partly, 0.25 if other regions were ' +
      'shown, and 0 if there is no code, code that only prints, or no work on the image. Grade what ' +
      'the images show, not what the RESPONSE says about itself. Do not answer the question.\n\n';
    return [
      {
        role: 'system',
        parts: [{ kind: 'text', text: instruction + replyRule(boundary, processJudge.grades) }],
      },
      {
        role: 'user',
        parts: [
          fenced('QUESTION', question, boundary, limits),
          fenced('RESPONSE', response, boundary, limits),
          ...images.slice(0, limits.images).map((png) => ({ kind: 'image', png }) as const),
        ],
      },
    ];
  },
};
