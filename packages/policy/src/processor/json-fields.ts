/** Reads the fields of a JSON file one by one; what does not fit is named with its file and field. */
import { DataError } from '@saccade/core';

/** An object of a JSON file, its fields not yet checked. */
export type Json = Readonly<Record<string, unknown>>;

/** True for an object that is no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A file, or an object in it, whose fields are read with their types. */
export class JsonFields {
  readonly json: Json;
  /** The file, and the path in it, for messages: `processor_config.json: image_processor`. */
  readonly source: string;

  constructor(json: Json, source: string) {
    this.json = json;
    this.source = source;
  }

  /** A field that is there and is not null. */
  has(field: string): boolean {
    return this.json[field] !== undefined && this.json[field] !== null;
  }

  /** A whole number; without `fallback` it must be there. @throws DataError naming the field */
  count(field: string, least: number, most: number, fallback?: number): number {
    const value = this.has(field) ? this.json[field] : fallback;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    throw this.unfit(field, `a whole number from ${least} to ${most}`);
  }

  /** @throws DataError naming the field */
  flag(field: string, fallback: boolean): boolean {
    const value = this.has(field) ? this.json[field] : fallback;
    if (typeof value === 'boolean') return value;
    throw this.unfit(field, 'true or false');
  }

  /** A number for each color channel. @throws DataError naming the field */
  channels(field: string, fallback: Channels, isPositive = false): Channels {
    const value = this.has(field) ? this.json[field] : fallback;
    const isFit = (one: unknown): boolean =>
      Number.isFinite(one) && !(isPositive && Number(one) <= 0);
    if (Array.isArray(value) && value.length === 3 && value.every(isFit)) {
      return value as unknown as Channels;
    }
    throw this.unfit(field, isPositive ? 'three numbers above 0' : 'three numbers');
  }

  /** An object within; empty where the field is absent. @throws DataError naming the field */
  object(field: string): JsonFields {
    const value = this.has(field) ? this.json[field] : {};
    if (!isObject(value)) throw this.unfit(field, 'an object');
    const isFile = this.source.endsWith('.json');
    return new JsonFields(value, `${this.source}${isFile ? ': ' : '.'}${field}`);
  }

  /** The error of a field whose value is not what it must be. */
  unfit(field: string, expected: string): DataError {
    const colon = this.source.endsWith('.json') ? ': ' : '.';
    return new DataError(
      `${this.source}${colon}${field} must be ${expected}, is ` +
        `${JSON.stringify(this.json[field]) ?? 'absent'}. Write or download it again.`,
    );
  }
}

/** Red, green, blue. */
export type Channels = readonly [number, number, number];
