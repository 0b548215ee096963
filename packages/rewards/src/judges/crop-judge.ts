/** Whether an image that a tool made shows what the question is about. */
import { type Judge, judgeLimits } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/**
 * Everything the judge sees. There is no place for code, thoughts or printed text: what a sandbox
 * prints is written by the model under judgment. Metadata are numbers for the same reason.
 */
export interface CropInput {
  readonly question: string;
  /** The tool's image, PNG bytes. */
  readonly png: Uint8Array;
  /** Sizes and coordinates, pixels, by name. */
  readonly metadata: Readonly<Record<string, number>>;
}

/**
 * How well a tool's image shows something the question asks about.
 *
 *   1 clearly at least one such object · 0.5 partly · 0.25 none
 *
 * Tool-Aware Policy Optimization, arXiv:2511.19661, §4.2 and template 13.2: the judge sees
 * (Q, o_t, metadata) and nothing that the model wrote. The released code shows it the whole reply
 * with its code, and grades {0, 0.25, 0.5, 0.75, 1}; the paper is followed here. The negative scores
 * of the paper's red lines need no judge.
 */
export const cropJudge: Judge<CropInput> = {
  name: 'crop-judge',
  paper: 'arXiv:2511.19661, §4.2, template 13.2',
  grades: [0.25, 0.5, 1],
  keyOf: ({ question, png, metadata }) => [question, png, numbersOf(metadata)],
  ask({ question, png, metadata }, boundary, limits = judgeLimits) {
    const instruction =
      'You grade images that a tool cut or made while somebody looked for the answer to a ' +
      'QUESTION. Look at the main content of the image alone. The grade is 1 if it clearly shows ' +
      'at least one of the objects or regions that the question needs; not all of them have to be ' +
      'there. It is 0.5 if such an object is cut off, or small and hard to make out, as in an image ' +
      'of nearly the whole scene. It is 0.25 if none is there. Do not answer the question.\n\n';
    return [
      {
        role: 'system',
        parts: [{ kind: 'text', text: instruction + replyRule(boundary, cropJudge.grades) }],
      },
      {
        role: 'user',
        parts: [
          fenced('QUESTION', question, boundary, limits),
          fenced('METADATA', numbersOf(metadata), boundary, limits),
          { kind: 'image', png },
        ],
      },
    ];
  },
};

/** `height 20\nwidth 30`: names are words of ours, values finite. */
function numbersOf(metadata: Readonly<Record<string, number>>): string {
  return Object.entries(metadata)
    .filter(([name, value]) => /^[A-Za-z]\w{0,30}$/.test(name) && Number.isFinite(value))
    .map(([name, value]) => `${name} ${value}`)
    .sort()
    .join('\n');
}
