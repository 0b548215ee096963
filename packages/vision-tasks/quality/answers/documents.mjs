/** Answers documents with the lines that EasyOCR reads, in tiles of the page that are enlarged. */

export const uses = 'OCR of enlarged tiles (`image_zoom_in_tool`, `easyocr`)';
export const tools = [];

export const questionType = ({ metadata }) => `${metadata.kind} ${metadata.program.operation}`;

/** The answer as `quality/python/read_document.py` finds it in what it reads. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('read_document', { question }, images)) ?? undefined;
}
