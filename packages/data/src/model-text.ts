/** What demonstrators write: the code of a look, of a turn, of frames of a video, and an answer. */
import type { Box, TurnTool } from '@saccade/gym';

/** One look at a box of the first picture. */
export function lookText([left, top, right, bottom]: Box): string {
  return codeText(`image_clue_0.crop((${left},${top},${right},${bottom})).show()`);
}

/** Pillow's words. */
const turnCalls: Readonly<Record<TurnTool, string>> = {
  rotate_90: 'rotate(90)',
  rotate_180: 'rotate(180)',
  rotate_270: 'rotate(270)',
  flip_horizontal: 'transpose(Image.FLIP_LEFT_RIGHT)',
  flip_vertical: 'transpose(Image.FLIP_TOP_BOTTOM)',
};

/** Turns the first picture, for all later looks too, and shows it. */
export function turnText(tool: TurnTool): string {
  return codeText(`image_clue_0 = image_clue_0.${turnCalls[tool]}\nimage_clue_0.show()`);
}

/** Small pictures of every `stride`th frame of the first video, side by side, a token for each. */
export function filmStripText(stride: number, count: number): string {
  const frames = `np.hstack(video_clue_0[::${stride}])`;
  // 0 is the nearest neighbour: pixels are doubled as they are.
  return codeText(`Image.fromarray(${frames}).reduce(4).resize((${28 * count}, 28), 0).show()`);
}

/** One frame of the first video in full. */
export function frameText(index: number): string {
  return codeText(`Image.fromarray(video_clue_0[${index}]).show()`);
}

export function answerText(answer: string): string {
  return `<answer>\n\\boxed{${answer}}\n</answer>`;
}

function codeText(code: string): string {
  return `<code>\n\`\`\`python\n${code}\n\`\`\`\n</code>`;
}
