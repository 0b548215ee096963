/** Answers searches on walls by stickers that are found by their labels and compared with drawings. */
import { drawingsOf } from '../drawings.mjs';

export const uses =
  'code that finds labels and disks, compares them with drawings of the kinds, and measures colors; OCR of labels';
export const tools = [];
/** Smaller walls are drawn faster; colors, labels and quadrants are as likely on them. */
export const blindSettings = { width: 1280, hardest: 1 };

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/find_stickers.py` finds it. */
export async function answer({ question, images }, eyes) {
  // What the held-out kinds look like is knowledge of the one who looks, not of the task.
  const { kinds, drawings, masks } = await drawingsOf('heldOut');
  const given = [...images, drawings, masks];
  return (await eyes.python('find_stickers', { question, kinds }, given)) ?? undefined;
}
