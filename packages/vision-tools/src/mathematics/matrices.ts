/** Matrices, units and simple statistics, by math.js. */
import { MathError } from './errors.ts';
import { math } from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { nice, shortNumber } from './write-number.ts';

type Matrix = readonly (readonly number[])[];

const maxSide = 12;

function readMatrix(text: string): Matrix {
  const rows = [...text.matchAll(/\[([^[\]]+)\]/g)].map(([, row = '']) =>
    row
      .split(/[,\s]+/)
      .filter((entry) => entry !== '')
      .map(Number),
  );
  const [first] = rows;
  const isFull = rows.every((row) => row.length === first?.length && row.every(Number.isFinite));
  if (first === undefined || !isFull || rows.length > maxSide || first.length > maxSide) {
    throw new MathError(`"${text}" is no matrix. Write [[1, 2], [3, 4]].`);
  }
  return rows;
}

function write(matrix: Matrix): string {
  return `[${matrix.map((row) => `[${row.map(nice).join(', ')}]`).join(', ')}]`;
}

const matrixText = String.raw`\[\s*\[.*?\]\s*\]`;

/** `determinant of [[1, 2], [3, 4]]`, `[[1, 2], [3, 4]] * [[0, 1], [1, 0]]`; undefined for other texts. */
export function matrixQuestion(text: string): MathAnswer | undefined {
  const found = [...text.matchAll(new RegExp(matrixText, 'g'))].map(([one]) => readMatrix(one));
  const [first, second] = found;
  if (first === undefined) return undefined;
  const work = (): { readonly what: string; readonly result: number | Matrix } => {
    if (/determinant|\bdet\b/i.test(text))
      return { what: 'Determinant', result: math.det(toMatrix(first)) };
    if (/inverse/i.test(text)) return { what: 'Inverse', result: math.inv(toMatrix(first)) };
    if (/transpose/i.test(text))
      return { what: 'Transpose', result: math.transpose(toMatrix(first)) };
    if (second === undefined) throw new MathError('It is not clear what to do with the matrix.');
    if (/\]\s*\+\s*\[|\bsum\b|\badd\b/i.test(text))
      return { what: 'Sum', result: math.add(toMatrix(first), toMatrix(second)) };
    if (/\]\s*-\s*\[|difference|subtract/i.test(text))
      return { what: 'Difference', result: math.subtract(toMatrix(first), toMatrix(second)) };
    return { what: 'Product', result: math.multiply(toMatrix(first), toMatrix(second)) };
  };
  const { what, result } = guarded(work);
  const answer = typeof result === 'number' ? nice(result) : write(result);
  return {
    answer,
    values: typeof result === 'number' ? [result] : [],
    steps: [`${what}: ${answer}`],
  };
}

function toMatrix(matrix: Matrix): number[][] {
  return matrix.map((row) => [...row]);
}

/** `convert 5 km to miles`; undefined for other texts. */
export function unitQuestion(text: string): MathAnswer | undefined {
  const match =
    /^(?:convert|express|change|how many)?\s*(-?\d+(?:\.\d+)?)\s*([a-zA-Z°]+(?:\s*\/\s*[a-z]+)?(?:\^\d)?)\s+(?:to|into|in)\s+([a-zA-Z°]+(?:\s*\/\s*[a-z]+)?(?:\^\d)?)\s*[.?]?$/i.exec(
      text,
    );
  if (match === null) return undefined;
  const [, amount = '', from = '', to = ''] = match;
  const value = guarded(() => math.unit(Number(amount), unitName(from)).toNumber(unitName(to)));
  const answer = `${shortNumber(value)} ${to}`;
  return { answer, values: [value], steps: [`${amount} ${from} = ${answer}`] };
}

function unitName(name: string): string {
  const short = {
    kph: 'km/h',
    mph: 'mi/h',
    celsius: 'degC',
    fahrenheit: 'degF',
    kelvin: 'K',
  } as const;
  const lower = name.toLowerCase();
  return Object.hasOwn(short, lower) ? short[lower as keyof typeof short] : name;
}

/** `mean of 3, 5, 10`; undefined for other texts. */
export function listQuestion(text: string): MathAnswer | undefined {
  const pattern =
    /\b(mean|average|median|mode|range|sum|product|gcd|lcm|greatest common (?:divisor|factor)|least common multiple|variance|standard deviation|maximum|minimum)\b(?: value)? of (?:the (?:numbers|data|values|list|set)\s*:?\s*)?((?:-?\d+(?:\.\d+)?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?)+)[.?]?$/i;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, word = '', list = ''] = match;
  const numbers = list
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/)
    .filter((one) => one.trim() !== '')
    .map(Number);
  const value = guarded(() => statistic(word.toLowerCase(), numbers));
  const answer = Array.isArray(value) ? value.map(nice).join(', ') : nice(value as number);
  const values = Array.isArray(value) ? [] : [value as number];
  return { answer, values, steps: [`${word} of ${numbers.join(', ')} = ${answer}`] };
}

function statistic(word: string, numbers: number[]): number | number[] {
  if (word === 'mean' || word === 'average') return math.mean(numbers);
  if (word === 'median') return math.median(numbers);
  if (word === 'mode') return math.mode(numbers) as number[];
  if (word === 'range') return math.max(numbers) - math.min(numbers);
  if (word === 'sum') return math.sum(numbers);
  if (word === 'product') return math.prod(numbers);
  if (word === 'variance') return Number(math.variance(numbers, 'uncorrected'));
  if (word === 'standard deviation') return Number(math.std(numbers, 'uncorrected'));
  if (word === 'maximum') return math.max(numbers);
  if (word === 'minimum') return math.min(numbers);
  const [first = 0, ...others] = numbers;
  if (word === 'gcd' || word.startsWith('greatest'))
    return others.reduce((a, b) => math.gcd(a, b), first);
  return others.reduce((a, b) => math.lcm(a, b), first);
}

function guarded<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw new MathError(error instanceof Error ? error.message : 'It could not be computed.');
  }
}
