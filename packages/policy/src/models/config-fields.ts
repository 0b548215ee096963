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

/** Three numbers under `key`. @throws ConfigError naming the field unless there are three */
export function readSections(source: Json, key: string): readonly [number, number, number] {
  const value = source[key];
  if (Array.isArray(value) && value.length === 3) return value as [number, number, number];
  throw new ConfigError(key, `${key} must be three numbers, got ${JSON.stringify(value)}.`);
}

/** The side of a square under `key`: a number, or two equal ones. @throws ConfigError otherwise */
export function readSquare(source: Json, key: string, fallback: number): number {
  const value = source[key] ?? fallback;
  const [side, other = side] = Array.isArray(value) ? value : [value];
  if (typeof side === 'number' && side === other) return side;
  throw new ConfigError(key, `${key} must be the side of a square, got ${JSON.stringify(value)}.`);
}
