/** Texts of a mapping: paths, templates, and what is done to their values. */
import { DataError } from '@saccade/core';
import { type Fields, typeOf } from '../table.ts';
import { type ColumnPath, parsePath, valueAt } from './column-path.ts';
import type { ConditionValue, TextValue } from './mapping-schema.ts';

/** A text of a row; undefined where its values are absent. */
export interface TextReader {
  readonly paths: readonly ColumnPath[];
  /** Whether it is one path, so that an absent value leaves no text at all. */
  readonly isTemplate: boolean;
  read(fields: Fields): string | undefined;
}

/** The text of a scalar. @throws DataError for a value that has none */
export function textOf(value: unknown, path: string): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    return String(value);
  }
  throw new DataError(`${path}: expected text or a number, got ${typeOf(value)}`);
}

/**
 * The texts of a list, of its JSON, or of a text alone; none where the value is absent.
 *
 * @throws DataError naming an element that is no text
 */
export function textsAt(fields: Fields, path: ColumnPath): readonly string[] {
  const value = valueAt(fields, path);
  if (value === null || value === undefined) return [];
  const list = listIn(value);
  return (Array.isArray(list) ? list : [list]).map((element, i) => {
    const text = textOf(element, `${path.text}[${i}]`);
    if (text !== undefined) return text;
    throw new DataError(`${path.text}[${i}]: expected text or a number, got null`);
  });
}

/** A list that is stored as its JSON, as in a cell of a CSV file. */
export function listIn(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('["')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Whether a row is one of those that a condition names. */
export interface Condition {
  readonly path: ColumnPath;
  holds(fields: Fields): boolean;
}

/** Reads a condition. */
export function readCondition({ value, is }: ConditionValue): Condition {
  const path = parsePath(value);
  const wanted = new Set(is);
  return { path, holds: (fields) => wanted.has(textOf(valueAt(fields, path), path.text) ?? '') };
}

/** Reads a path or a template. @throws DataError if it is neither */
export function readTemplate(template: string): TextReader {
  if (!template.includes('{')) {
    const path = parsePath(template);
    return {
      paths: [path],
      isTemplate: false,
      read: (fields) => textOf(valueAt(fields, path), path.text),
    };
  }
  // Odd parts are the names between braces.
  const parts = template.split(/\{([^{}]*)\}/);
  const paths = parts.flatMap((part, i) => (i % 2 === 1 ? [parsePath(part)] : []));
  return {
    paths,
    isTemplate: true,
    read(fields) {
      const values = paths.map((path) => textOf(valueAt(fields, path), path.text) ?? '');
      // Words around nothing say nothing.
      if (values.every((value) => value.trim() === '')) return undefined;
      return parts.map((part, i) => (i % 2 === 0 ? part : values[(i - 1) / 2])).join('');
    },
  };
}

/** Reads a text with what is done to it. @throws DataError if it cannot be read so */
export function readText(given: TextValue): TextReader {
  if (typeof given === 'string') return readTemplate(given);
  if ('text' in given) return { paths: [], isTemplate: true, read: () => given.text };
  const { value, without = [], pattern } = given;
  const template = readTemplate(value);
  const match = pattern === undefined ? undefined : patternOf(pattern);
  return {
    ...template,
    read(fields) {
      let text = template.read(fields);
      if (text === undefined) return undefined;
      for (const part of without) text = text.replaceAll(part, '');
      return match === undefined ? text : match(text);
    },
  };
}

/** Gives the first group of a match, or the whole text where there is none. */
export function patternOf(source: string): (text: string) => string {
  let expression: RegExp;
  try {
    expression = new RegExp(source, 's');
  } catch {
    throw new DataError(`${JSON.stringify(source)} is no regular expression`);
  }
  return (text) => expression.exec(text)?.[1] ?? text;
}
