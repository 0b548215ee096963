/** Answers maps with the names and the legend that EasyOCR reads, and regions by color. */

export const uses = 'OCR of the enlarged image (`easyocr`), and code that finds regions by color';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/read_map.py` finds it. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('read_map', { question }, images)) ?? undefined;
}
