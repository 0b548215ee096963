/** A record of JSON as the fields of a row. */
import { DataError, messageOf } from '@saccade/core';
import { type Fields, typeOf } from '../table.ts';

/** @throws DataError if the text is no JSON object */
export function parseObject(text: string): Fields {
  let value: unknown;
  try {
    // Of an editor that marks the order of bytes.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new DataError(`is no valid JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeOf(value) === 'struct') return value as Fields;
  throw new DataError(`expected a JSON object, got ${typeOf(value)}`);
}

/**
 * A member of an object, `"key": { … }`, as the fields of a row with the key as `__key__`.
 *
 * @throws DataError if it is no object with a key
 */
export function parseMember(text: string): Fields {
  const [[key, value] = []] = Object.entries(parseObject(`{${text}}`));
  if (key !== undefined && typeOf(value) === 'struct') return { __key__: key, ...(value as Fields) };
  throw new DataError(`expected an object with a key, got ${typeOf(value)}`);
}
