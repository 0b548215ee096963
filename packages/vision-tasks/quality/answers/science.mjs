/** Answers science with the texts that EasyOCR reads and code for arrows, pointers and ticks. */
import { readFileSync } from 'node:fs';

export const uses =
  'OCR of the enlarged image (`easyocr`), and code for arrows, pointers and ticks';
export const tools = [];

export const questionType = ({ metadata }) => `${metadata.kind} ${metadata.program.operation}`;

/** Names, symbols and numbers are common knowledge; masses and electronegativities are not passed on. */
const elements = JSON.parse(
  readFileSync(new URL('../../data/elements.json', import.meta.url), 'utf8'),
).map(({ name, symbol, number }) => ({ name, symbol, number }));

/** The program that fits the words of a question. */
function programOf(question) {
  if (/arrow/.test(question)) return 'read_food_web';
  if (/nearest tick/.test(question)) return 'read_instrument';
  if (/ohms|battery/.test(question)) return 'read_circuit';
  return 'read_elements';
}

/** The answer as the programs `quality/python/read_*.py` find it. */
export async function answer({ question, images }, eyes) {
  const given = { question, elements };
  return (await eyes.python(programOf(question), given, images)) ?? undefined;
}
