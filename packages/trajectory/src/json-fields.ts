/** Reads typed fields out of parsed JSON; every message names the field. */
import { DataError } from '@saccade/core';

/** The fields of one JSON object, by the type they must have. */
export class JsonFields {
  /** The object as it is. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly #path: string;

  /** @param path where the object stands, e.g. `segments[2]`; empty for the outermost */
  constructor(value: unknown, path = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DataError(`${path || 'the line'} must be an object.`);
    }
    this.record = value as Readonly<Record<string, unknown>>;
    this.#path = path;
  }

  names(): readonly string[] {
    return Object.keys(this.record);
  }

  has(name: string): boolean {
    return this.record[name] !== undefined && this.record[name] !== null;
  }

  text(name: string): string {
    const value = this.record[name];
    return typeof value === 'string' ? value : this.#refuse(name, 'text');
  }

  boolean(name: string): boolean {
    const value = this.record[name];
    return typeof value === 'boolean' ? value : this.#refuse(name, 'true or false');
  }

  number(name: string): number {
    const value = this.record[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    return this.#refuse(name, 'a finite number');
  }

  integer(name: string): number {
    const value = this.record[name];
    return Number.isInteger(value) ? (value as number) : this.#refuse(name, 'a whole number');
  }

  oneOf<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = this.record[name] as Word;
    return words.includes(value) ? value : this.#refuse(name, `one of ${words.join(', ')}`);
  }

  scalar(name: string): string | number | boolean {
    const value = this.record[name];
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    return typeof value === 'number' ? value : this.#refuse(name, 'text, a number or a boolean');
  }

  numbers(name: string): readonly number[] {
    const value = this.record[name];
    if (Array.isArray(value) && value.every(Number.isFinite)) return value as readonly number[];
    return this.#refuse(name, 'a list of finite numbers');
  }

  integers(name: string): readonly number[] {
    const value = this.record[name];
    if (Array.isArray(value) && value.every(Number.isInteger)) return value as readonly number[];
    return this.#refuse(name, 'a list of whole numbers');
  }

  object(name: string): JsonFields {
    return new JsonFields(this.record[name], this.#pathOf(name));
  }

  objects(name: string): readonly JsonFields[] {
    const value = this.record[name];
    if (!Array.isArray(value)) return this.#refuse(name, 'a list');
    return value.map((item, index) => new JsonFields(item, `${this.#pathOf(name)}[${index}]`));
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #refuse(name: string, expected: string): never {
    throw new DataError(`${this.#pathOf(name)} must be ${expected}.`);
  }
}
