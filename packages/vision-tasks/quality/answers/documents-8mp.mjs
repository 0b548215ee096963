/** Answers about large pages as about small ones, without enlarging: their type is large enough. */

export const uses = 'OCR of tiles of the page (`image_zoom_in_tool`, `easyocr`)';
export const tools = [];

export const questionType = ({ metadata }) => `${metadata.kind} ${metadata.program.operation}`;

/** The answer as `quality/python/read_document.py` finds it in what it reads. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('read_document', { question, scale: 1 }, images)) ?? undefined;
}
