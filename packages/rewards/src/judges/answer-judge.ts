/** Whether an answer says the same as the reference. */
import { type Judge, judgeLimits, type Untrusted } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/** The answer judge's input: an answer and the reference to compare it with, for a question. */
export interface AnswerInput {
  readonly question: string;
  readonly answer: Untrusted;
  /** The reference. */
  readonly expected: string;
}

/**
 * 1 if an answer says the same as the reference, else 0.
 *
 * The judge of PyVision-RL (arXiv:2602.20739, §3.3), CodeDance (arXiv:2512.17312), CodeVision
 * (arXiv:2512.03746) and CodeV (arXiv:2511.19661, §4.2) for what rules cannot compare. Their code
 * asks at temperature 0.3 or so with examples for each data set; here it is 0 and without, so that a
 * grade is the same every time.
 */
export const answerJudge: Judge<AnswerInput> = {
  name: 'answer-judge',
  paper: 'arXiv:2602.20739, §3.3; arXiv:2511.19661, §4.2',
  grades: [0, 1],
  keyOf: ({ question, answer, expected }) => [question, answer, expected],
  ask({ question, answer, expected }, boundary, limits = judgeLimits) {
    const instruction =
      'You grade answers to questions about images. Compare the ANSWER with the REFERENCE, which ' +
      'is right. The grade is 1 if both say the same thing in reply to the QUESTION, whatever their ' +
      'wording, notation or length; a number must have the same value, an option may be named by ' +
      'its letter or its text. The grade is 0 if the ANSWER says anything else, says several ' +
      'different things, or says nothing. Do not solve the question yourself.\n\n';
    return [
      {
        role: 'system',
        parts: [{ kind: 'text', text: instruction + replyRule(boundary, answerJudge.grades) }],
      },
      {
        role: 'user',
        parts: [
          fenced('QUESTION', question, boundary, limits),
          fenced('REFERENCE', expected, boundary, limits),
          fenced('ANSWER', answer, boundary, limits),
        ],
      },
    ];
  },
};
