/** Answers about small print on turned sheets: finds the turn by the masthead, then reads each block. */

export const uses =
  'the turn by OCR of the masthead (`detect_orientation`), then OCR of enlarged blocks of small print';
export const tools = [];
/** Smaller sheets are drawn faster; letters and values are as likely on them. */
export const blindSettings = { width: 1600, largestShare: 0.002, hardest: 1 };

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/read_sheet.py` finds it. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('read_sheet', { question }, images)) ?? undefined;
}

const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9.]/g, '');

/** A whole line counts where its letters are right: OCR loses spaces between words. */
export function isRight(given, { answer: right }) {
  return plain(given) === plain(right);
}
