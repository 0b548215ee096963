/** The tool's text about an answer, and which of the given choices it is. */
import { MathError } from './errors.ts';
import { readFormula, valueAt } from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { plainMath } from './plain.ts';

/** The choice that an answer is, by its value or its text; undefined if none or several are. */
export function choiceOf(
  { answer, values }: MathAnswer,
  choices: readonly string[],
): number | undefined {
  const fitting = [...choices.keys()].filter((index) =>
    isChoice(answer, values, choices[index] ?? ''),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function isChoice(answer: string, values: readonly number[], choice: string): boolean {
  const plain = withoutLabel(choice);
  if (squeezed(plain) === squeezed(answer)) return true;
  const numbers = numbersIn(plain);
  if (numbers.length !== values.length || values.length === 0) return false;
  const [sorted, own] = [numbers.toSorted((a, b) => a - b), values.toSorted((a, b) => a - b)];
  return own.every(
    (value, index) =>
      Math.abs(value - (sorted[index] ?? Number.NaN)) <= 5e-3 * Math.max(1e-6, Math.abs(value)),
  );
}

/** `(A) 5` and `B. 7` are 5 and 7. */
function withoutLabel(choice: string): string {
  return choice.replace(/^\s*(?:\(?[A-Ha-h]\)|[A-H][.:])\s*/, '').trim();
}

function squeezed(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/^[a-z]=/, '');
}

/** The values of `2`, `x = 2 or x = 3`, `√5/2`, `30°`; none where it is no list of numbers. */
function numbersIn(text: string): readonly number[] {
  const parts = plainMath(text.replaceAll('°', ' '))
    .replace(/\b(?:degrees?|cm|mm|km|m|units?|square)\b(?:\^\d)?/g, ' ')
    .split(/\s*(?:\bor\b|\band\b|,|;)\s*/)
    .map((part) => part.replace(/^[a-z]\s*=\s*/, '').trim())
    .filter((part) => part !== '');
  const values: number[] = [];
  for (const part of parts) {
    try {
      values.push(valueAt(readFormula(part)));
    } catch (error) {
      if (error instanceof MathError) return [];
      throw error;
    }
  }
  return values.every(Number.isFinite) ? values : [];
}
