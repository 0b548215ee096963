/** Answers about ledgers with the texts that EasyOCR reads, row by row. */

export const uses = 'OCR of enlarged tiles (`easyocr`), print and hand alike, and code that adds';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/read_ledger.py` finds it in what it reads. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('read_ledger', { question }, images)) ?? undefined;
}
