/** The answer in a response that is only text, as other trainers send it. */
import { boxedContent } from './verdict.ts';

/** Answers this long or longer are wrong, as in a verdict. */
const maxAnswerCharacters = 1000;

/**
 * The answer in a response: the content of its last `<answer>…</answer>`, or of its last
 * `\boxed{…}`, else its last line that says anything. Undefined, and so wrong, where its answer
 * tags do not pair up or the answer has 1000 characters or more; thoughts before `</think>` never
 * count.
 */
export function answerIn(response: string): string | undefined {
  const said = response.split('</think>').at(-1) ?? '';
  const opened = said.split('<answer>');
  const closed = said.split('</answer>');
  if (opened.length !== closed.length) return undefined;
  const tagged = opened.length > 1 ? opened.at(-1)?.split('</answer>')[0] : undefined;
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const answer = boxedContent(tagged ?? said) ?? tagged ?? lines.at(-1);
  const plain = answer?.trim() ?? '';
  return plain === '' || plain.length >= maxAnswerCharacters ? undefined : plain;
}
