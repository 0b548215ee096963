/** Whether an image that a tool made shows anything the question is about: yes or no. */
import { type Judge, judgeLimits } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/** Everything the judge sees: the question and one image, and nothing that the model wrote. */
export interface FaithfulnessInput {
  readonly question: string;
  /** The tool's image, PNG bytes. */
  readonly png: Uint8Array;
}

/**
 * 1 if an image clearly shows something that the question mentions or needs, else 0.
 *
 * CodeV, arXiv:2511.19661, algorithm 1 and template 8.1, in words of our own: the evaluation's binary
 * question, where `crop-judge` grades in three steps for the reward. The paper asks GPT-4o, image by
 * image; one yes makes the tool use of a trajectory faithful.
 */
export const faithfulnessJudge: Judge<FaithfulnessInput> = {
  name: 'faithfulness-judge',
  paper: 'arXiv:2511.19661, algorithm 1, template 8.1',
  grades: [0, 1],
  keyOf: ({ question, png }) => [question, png],
  ask({ question, png }, boundary, limits = judgeLimits) {
    const instruction =
      'You decide whether an image has to do with a QUESTION. The grade is 1 if at least one object, ' +
      'region or text that the question mentions or implies can be seen in the image, clearly ' +
      'enough to be told for what it is. It is 0 if there is none, or none that is clear. Do not answer ' +
      'the question, and do not judge whether the image suffices to answer it.\n\n';
    return [
      {
        role: 'system',
        parts: [
          { kind: 'text', text: instruction + replyRule(boundary, faithfulnessJudge.grades) },
        ],
      },
      {
        role: 'user',
        parts: [fenced('QUESTION', question, boundary, limits), { kind: 'image', png }],
      },
    ];
  },
};
