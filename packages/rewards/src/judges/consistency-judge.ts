/** Whether an answer follows from the thought before it. */
import { type Judge, judgeLimits, type Untrusted } from '../judge.ts';
import { fenced, replyRule } from './fence.ts';

/** The consistency judge's input: an answer and the thought before it. */
export interface ConsistencyInput {
  /** The last thought; its end is what is judged. */
  readonly thought: Untrusted;
  readonly answer: Untrusted;
}

/**
 * 1 if the answer is what the end of the thought arrives at, else 0; whether it is right is not asked.
 *
 * Thyme, arXiv:2508.11630: its consistency reward, by a model that sees the end of the thought and the
 * answer.
 */
export const consistencyJudge: Judge<ConsistencyInput> = {
  name: 'consistency-judge',
  paper: 'Thyme, arXiv:2508.11630',
  grades: [0, 1],
  keyOf: ({ thought, answer }, { thoughtCharacters } = judgeLimits) => [
    thought.slice(-thoughtCharacters),
    answer,
  ],
  ask({ thought, answer }, boundary, limits = judgeLimits) {
    const instruction =
      'You compare the end of a THOUGHT with the ANSWER that was given after it. The grade is 1 if ' +
      'the ANSWER says what the THOUGHT arrives at, in whatever words. It is 0 if the ANSWER says ' +
      'something else, or if the THOUGHT is empty or arrives at nothing. Whether either is true does ' +
      'not matter.\n\n';
    return [
      {
        role: 'system',
        parts: [{ kind: 'text', text: instruction + replyRule(boundary, consistencyJudge.grades) }],
      },
      {
        role: 'user',
        parts: [
          fenced('THOUGHT', thought.slice(-limits.thoughtCharacters), boundary, limits),
          fenced('ANSWER', answer, boundary, limits),
        ],
      },
    ];
  },
};
