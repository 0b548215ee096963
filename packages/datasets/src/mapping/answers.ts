/** Answers and choices of a row. */
import { DataError } from '@saccade/core';
import { type Fields, typeOf } from '../table.ts';
import { type ColumnPath, parsePath, valueAt } from './column-path.ts';
import { readExact } from './exact.ts';
import type { AnswerValue, ChoicesValue } from './mapping-schema.ts';
import { patternOf, readTemplate, textOf } from './texts.ts';

const letterOf = (index: number): string => String.fromCharCode(65 + index);

/** The choices of a row; undefined where it has none. */
export interface ChoicesReader {
  readonly paths: readonly ColumnPath[];
  readonly inQuestion: boolean;
  read(fields: Fields): readonly string[] | undefined;
}

/** Reads choices: a list, a text with separators, or columns. */
export function readChoices(given: ChoicesValue): ChoicesReader {
  if (typeof given === 'string') return readChoices({ value: given, inQuestion: false });
  const { inQuestion } = given;
  if ('columns' in given) {
    const paths = given.columns.map(parsePath);
    return {
      paths,
      inQuestion,
      read(fields) {
        const texts = paths.map((path) => textOf(valueAt(fields, path), path.text));
        const known = texts.filter((text) => text !== undefined && text !== '') as string[];
        return known.length === 0 ? undefined : known;
      },
    };
  }
  const path = parsePath(given.value);
  const { separator, pattern } = given;
  const match = pattern === undefined ? (text: string) => text : patternOf(pattern);
  return {
    paths: [path],
    inQuestion,
    read(fields) {
      const value = valueAt(fields, path);
      if (value === null || value === undefined || value === '') return undefined;
      const list = typeof value === 'string' ? divided(value, separator) : value;
      if (!Array.isArray(list)) {
        throw new DataError(`${path.text}: expected a list of choices, got ${typeOf(value)}`);
      }
      const texts = list.map((one) => match(textOf(one, path.text) ?? ''));
      return texts.length === 0 ? undefined : texts;
    },
  };
}

/** A text as a list: at separators, or as JSON. */
function divided(text: string, separator: string | undefined): unknown {
  if (separator !== undefined) return text.split(separator).map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An answer: the text that is right, and every text that is. */
interface Answer {
  readonly text: string;
  readonly all: readonly string[];
}

/** The answer of a row; undefined where it has none. */
export interface AnswerReader {
  readonly paths: readonly ColumnPath[];
  /** Path of the flags that say what of it is exact. */
  readonly flags: ColumnPath | undefined;
  /** Paths of the kinds of rows by which it is read. */
  readonly conditions: readonly ColumnPath[];
  /** Whether a list of texts is read. */
  readonly isList: boolean;
  /** @throws DataError if it does not fit the choices */
  read(fields: Fields, choices: readonly string[] | undefined): Answer | undefined;
}

/** Reads an answer as its declaration says. */
export function readAnswer(given: AnswerValue): AnswerReader {
  if (typeof given === 'string') return readAnswer({ value: given, as: 'text', base: 0 });
  const { value, as, base, pattern, words, exact } = given;
  const template = readTemplate(value);
  const [path] = template.paths;
  const match = pattern === undefined ? (text: string) => text : patternOf(pattern);
  const worded = (text: string): string => {
    const plain = match(text);
    return words?.[plain] ?? plain;
  };
  const isList = as === 'all' || as === 'majority';
  if (isList && exact !== undefined) {
    throw new DataError(`an answer that is read as ${as} is no single text that could be exact`);
  }
  const marked = exact && readExact(exact);
  return {
    paths: template.paths,
    flags: marked?.flags,
    conditions: marked?.conditions ?? [],
    isList,
    read(fields, choices) {
      if (isList && path !== undefined) {
        const texts = listOf(valueAt(fields, path), path.text).map(worded);
        if (texts.length === 0) return undefined;
        return as === 'all' ? allOf(texts) : { text: mostOften(texts), all: texts };
      }
      const text = template.read(fields);
      if (text === undefined) return undefined;
      const right = chosen(worded(text), as, base, choices);
      return one(marked === undefined ? right : marked.mark(right, fields));
    },
  };
}

const one = (text: string): Answer => ({ text, all: [text] });

/** Several right answers are a JSON list, which verifiers read as such. */
function allOf(texts: readonly string[]): Answer {
  const [first = ''] = texts;
  return { text: texts.length === 1 ? first : JSON.stringify(texts), all: texts };
}

function chosen(
  text: string,
  as: 'text' | 'index' | 'letter' | 'choice' | 'all' | 'majority',
  base: number,
  choices: readonly string[] | undefined,
): string {
  if (as === 'index') {
    const index = Number(text) - base;
    const count = choices?.length ?? 0;
    if (Number.isInteger(index) && index >= 0 && index < count) return letterOf(index);
    throw new DataError(
      `the answer ${JSON.stringify(text)} is the number of none of its ${count} choices`,
    );
  }
  if (choices === undefined) return text;
  if (as === 'letter') {
    const letter = /^\W*([A-Za-z])\W*(?:[.:)]|$)/.exec(text)?.[1]?.toUpperCase();
    if (letter !== undefined && letter.charCodeAt(0) - 65 < choices.length) return letter;
    throw new DataError(
      `the answer ${JSON.stringify(text)} is the letter of none of its ${choices.length} choices`,
    );
  }
  if (as !== 'choice') return text;
  const index = choices.findIndex((choice) => choice.trim() === text.trim());
  if (index >= 0) return letterOf(index);
  throw new DataError(`the answer ${JSON.stringify(text)} is none of its choices`);
}

/** The texts of a list, of structs with an `answer`, or of a text alone. */
function listOf(value: unknown, path: string): readonly string[] {
  if (value === null || value === undefined) return [];
  const list = typeof value === 'string' ? divided(value, undefined) : value;
  const texts = (Array.isArray(list) ? list : [list]).map((element) => {
    const inner = typeOf(element) === 'struct' ? (element as Fields).answer : element;
    return textOf(inner, path);
  });
  return texts.filter((text) => text !== undefined) as string[];
}

/** The text that stands most often; of equals the first. */
function mostOften(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  let best = texts[0] ?? '';
  for (const [text, count] of counts) if (count > (counts.get(best) ?? 0)) best = text;
  return best;
}
