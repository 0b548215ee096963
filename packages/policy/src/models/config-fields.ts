/** Reads the fields of a `config.json`. */
import { ConfigError } from '@saccade/core';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** The number under `key`. @throws ConfigError naming the field if it is missing or no number */
export function readNumber(source: Json, key: string, fallback?: number): number {
  const value = source[key] ?? fallback;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new ConfigError(key, `${key} must be a number, got ${JSON.stringify(value)}.`);
  }
  return value;
}

/** A nested object; empty where there is none. */
export function readObject(value: unknown): Json {
  return (value ?? {}) as Json;
}

/** The numbers under `key`. @throws ConfigError naming the field unless it is a list of numbers */
export function readNumbers(source: Json, key: string): readonly number[] {
  const value = source[key];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'number')) {
    throw new ConfigError(key, `${key} must be a list of numbers, got ${JSON.stringify(value)}.`);
  }
  return value;
}
