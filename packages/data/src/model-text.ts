/** What demonstrators write: the code of a look, and an answer. */
import type { Box } from '@saccade/gym';

/** One look at a box of the first picture. */
export function lookText([left, top, right, bottom]: Box): string {
  return `<code>\n\`\`\`python\nimage_clue_0.crop((${left},${top},${right},${bottom})).show()\n\`\`\`\n</code>`;
}

export function answerText(answer: string): string {
  return `<answer>\n\\boxed{${answer}}\n</answer>`;
}
