/** Parses a whole answer: one or several mathematical objects, with units, or words. */
import type { Expression } from './expression.ts';
import { symbolsOf } from './expression.ts';
import { functionNames, greek } from './names.ts';
import { mathPartOf, maxMathCharacters, normalizeMath } from './normalize.ts';
import { parseMath } from './parser.ts';
import { parseUnit } from './units.ts';

/** Options of `parseAnswer`. */
export interface ParseOptions {
  /** Reads letters without LaTeX markup as a product: `xy` as x · y. Default false: words. */
  readonly isFormula?: boolean;
}

/**
 * Parses an answer. Never throws: what is not mathematics becomes a `text` expression. Letters alone
 * are words unless LaTeX marks them as mathematics or `isFormula` is set.
 */
export function parseAnswer(text: string, options: ParseOptions = {}): Expression {
  const part = mathPartOf(text.slice(-maxSearchedCharacters));
  if (part.length > maxMathCharacters) return wordsOf(text.trim());
  const plain = normalizeMath(part);
  const isMarkedMath = options.isFormula === true || (/[\\$]/.test(text) && !/\\text/.test(text));
  if (!isMarkedMath && isWords(plain)) return wordsOf(plain);
  try {
    return readParts(plain);
  } catch {
    // Also an overflow of the stack, should a limit of the parser be too generous somewhere.
    return wordsOf(plain);
  }
}

function wordsOf(text: string): Expression {
  const plain = text
    .replace(/\\[a-z]+\s*\{([^{}]*)\}/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/^\((.*)\)$/, '$1');
  return { kind: 'text', text: /^no (?:real )?solutions?$/.test(plain) ? '∅' : plain };
}

/** Letters and spaces only, with a word that no formula would hold. */
function isWords(plain: string): boolean {
  const unwrapped = plain.replace(/\\(?:text\w*|mbox|mathrm)\s*\{([^{}]*)\}/g, '$1').trim();
  if (!/^[\p{L}][\p{L}\s'’.,&-]*$/u.test(unwrapped)) return false;
  const words = unwrapped.split(/[\s.,&-]+/).filter((word) => word !== '');
  const hasFormula = words.some(
    (word) => word === 'pi' || (word.length > 1 && Object.hasOwn(functionNames, word)),
  );
  if (hasFormula && words.length < 4) return false;
  return words.some((word) => word.length > 1 && !/^(?:or|and|pi)$/.test(word) && !greek.has(word));
}

const separatorWords =
  /\\(?:text\w*|mbox)\s*\{\s*,?\s*(?:or|and)\s*,?\s*\}|\\(?:lor|vee|land|wedge)(?![a-zA-Z])|(?<![\\a-zA-Z])(?:or|and)(?![a-zA-Z])/g;

function readParts(plain: string): Expression {
  const parts = splitAtCommas(plain.replace(separatorWords, ' ; '));
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return readOne(only);
  return { kind: 'several', items: parts.map(readOne) };
}

/** Pieces between commas and semicolons outside of all brackets; commas of thousands stay. */
function splitAtCommas(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    else if (text.startsWith('\\begin', at)) depth++;
    else if (text.startsWith('\\end', at)) depth--;
    if (depth !== 0 || (character !== ',' && character !== ';')) continue;
    const isThousands =
      character === ',' &&
      /(?:^|[^\d.,])[1-9]\d{0,2}(?:,\d{3})*$/.test(text.slice(Math.max(0, at - 12), at)) &&
      /^,\d{3}(?!\d)/.test(text.slice(at));
    if (isThousands) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  parts.push(text.slice(start));
  const filled = parts.map((part) => part.trim()).filter((part) => part !== '');
  return filled.length > 0 ? filled : [''];
}

function readOne(part: string): Expression {
  return readMeasured(part) ?? parseMath(part);
}

/** The end of a text, where its answer is looked for. */
const maxSearchedCharacters = 8000;
/** A number with its unit is shorter. */
const maxMeasuredCharacters = 200;
/** Beginnings of a unit that are tried. */
const maxSuffixes = 8;

const textSuffix =
  /^(.*?[^\s\\].*?)((?:\\(?:text\w*|mbox|mathrm|mathbf|rm)\s*\{[^{}]*\}\s*(?:\^\s*\{?\s*-?\d\s*\}?)?\s*\/?\s*)+)$/s;
const plainSuffix = /(?<=[\d)}%]|\s)[A-Za-z°][A-Za-z°\s/^{}\d*.-]*$/;

/** `5 cm`, `\frac{1}{2}\text{ apples}`, `30 km/h`: a number and its unit. */
function readMeasured(part: string): Expression | undefined {
  if (part.length > maxMeasuredCharacters) return undefined;
  const worded = textSuffix.exec(part);
  if (worded !== null) {
    const [, before = '', words = ''] = worded;
    const unit = words.replace(/\\\w+\s*\{([^{}]*)\}/g, '$1').trim();
    const value = parsed(before);
    if (value !== undefined && isScalar(value)) {
      const isWorded = /^\\(?:text|mbox)/.test(words) || symbolsOf(value).length === 0;
      if (isWorded) return { kind: 'measured', value, unit };
    }
  }
  // From the longest suffix of letters to the shortest.
  const numeric = /^[-+\s\d.,/%()\\{}^*a-z]*?[\d)}%]\s*(?=[A-Za-z°])/.exec(part);
  let at = numeric?.[0].length ?? -1;
  for (let tries = 0; tries < maxSuffixes && at > 0 && at < part.length; tries++) {
    const suffix = part.slice(at);
    if (!plainSuffix.test(part)) return undefined;
    const isUnit = parseUnit(suffix) !== undefined || isCountedThing(suffix);
    const value = isUnit ? parsed(part.slice(0, at)) : undefined;
    if (value !== undefined && isScalar(value) && symbolsOf(value).length === 0) {
      return { kind: 'measured', value, unit: suffix.trim() };
    }
    const next = suffix.slice(1).search(/(?<=[\s\d)}])[A-Za-z°]/);
    if (next < 0) return undefined;
    at += next + 1;
  }
  return undefined;
}

/** `apples`, `red balls`: words that no formula holds, all of at least three letters. */
function isCountedThing(suffix: string): boolean {
  const words = suffix.trim().split(/\s+/);
  return words.every(
    (word) =>
      /^[A-Za-z]{3,}$/.test(word) && !Object.hasOwn(functionNames, word) && !greek.has(word),
  );
}

function parsed(text: string): Expression | undefined {
  try {
    return parseMath(text.trim());
  } catch {
    return undefined;
  }
}

const isScalar = ({ kind }: Expression): boolean =>
  [
    'number',
    'sum',
    'negate',
    'product',
    'quotient',
    'power',
    'call',
    'relation',
    'constant',
  ].includes(kind);
