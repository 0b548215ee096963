/** Answers of the engine as lines of text: the value, the choice, the proof. */
import { writeProof } from './engine/proof.ts';
import type { GeometryAnswer, GoalAnswer } from './solve-problem.ts';

/** `40`, or `2√3 ≈ 3.4641` where a decimal helps. */
function answerText({ text, value }: GoalAnswer): string {
  if (text === undefined) return 'not found';
  if (value === undefined || !/[√π/]/.test(text)) return text;
  return `${text} ≈ ${Number(value.toPrecision(6))}`;
}

export function isSolved({ answers }: GeometryAnswer): boolean {
  return answers.length > 0 && answers.every(({ text }) => text !== undefined);
}

/** One block for each goal; the proof where it is wanted. */
export function answerLines(
  { answers }: GeometryAnswer,
  { withProof }: { readonly withProof: boolean },
): readonly string[] {
  return answers.flatMap((answer) => {
    const lines = withProof && answer.proof.length > 0 ? [writeProof(answer.proof)] : [];
    const name = answers.length > 1 ? `Answer to ${answer.goal}` : 'Answer';
    return [...lines, `${name}: ${answerText(answer)}`];
  });
}

/** Why there is no answer. */
export function failureText({ ending, contradiction, unused }: GeometryAnswer): string {
  const reasons = {
    goal: '',
    'fixed point': 'No more theorems apply. A fact may be missing.',
    'step limit': 'The step limit was reached. Raise step_limit.',
    'time limit': 'The time limit was reached. Raise time_limit.',
    contradiction: `The statements contradict each other at: ${contradiction}.`,
  };
  const rest = unused.length === 0 ? '' : ` Not used: ${unused.join('; ')}.`;
  return `The answer does not follow from the statements. ${reasons[ending]}${rest}`;
}
