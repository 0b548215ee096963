/** Reads the fields of a `config.json`: each is checked before a model is made of it. */
import { ConfigError } from '@saccade/core';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** More than any model has of anything; what is larger would end in want of memory, not in words. */
const MOST: number = 2 ** 24;
/** More than any model has of layers. */
export const MOST_LAYERS = 4096;

function wrong(key: string, expected: string, value: unknown): ConfigError {
  return new ConfigError(key, `${key} must be ${expected}, got ${JSON.stringify(value)}.`);
}

/** The number under `key`. @throws ConfigError naming the field if it is missing or no number */
export function readNumber(source: Json, key: string, fallback?: number): number {
  const value = source[key] ?? fallback;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(key, 'a number', value);
  return value;
}

/** A number above 0. @throws ConfigError naming the field */
export function readPositive(source: Json, key: string, fallback?: number): number {
  const value = readNumber(source, key, fallback);
  if (value <= 0) throw wrong(key, 'a number above 0', value);
  return value;
}

/** A whole number of at least `least` and at most `most`. @throws ConfigError naming the field */
export function readCount(
  source: Json,
  key: string,
  options: {
    readonly least?: number;
    readonly most?: number;
    readonly fallback?: number | undefined;
  } = {},
): number {
  const { least = 1, most = MOST, fallback } = options;
  const value = source[key] ?? fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  throw wrong(key, `a whole number from ${least} to ${most}`, value);
}

/** True or false, or `fallback` where there is none. @throws ConfigError for anything else */
export function readFlag(source: Json, key: string, fallback: boolean): boolean {
  const value = source[key] ?? fallback;
  if (typeof value !== 'boolean') throw wrong(key, 'true or false', value);
  return value;
}

/** The object under `key`; empty where there is none. @throws ConfigError for anything else */
export function readObject(source: Json, key: string): Json {
  const value = source[key] ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong(key, 'an object', value);
  return value as Json;
}

/** Different indices below `bound`, in the order given. @throws ConfigError naming the field */
export function readIndices(source: Json, key: string, bound: number): readonly number[] {
  const value = source[key];
  const isIndex = (one: unknown) =>
    Number.isInteger(one) && Number(one) >= 0 && Number(one) < bound;
  if (Array.isArray(value) && value.every(isIndex) && new Set(value).size === value.length) {
    return value as number[];
  }
  throw wrong(key, `a list of different whole numbers from 0 to ${bound - 1}`, value);
}

/** Three whole numbers that add up to `sum`. @throws ConfigError naming the field */
export function readSections(
  source: Json,
  key: string,
  sum: number,
): readonly [number, number, number] {
  const value = source[key];
  const isCount = (one: unknown) => Number.isInteger(one) && Number(one) >= 0;
  if (Array.isArray(value) && value.length === 3 && value.every(isCount)) {
    const [time = 0, height = 0, width = 0] = value as number[];
    if (time + height + width === sum) return [time, height, width];
  }
  throw wrong(key, `three whole numbers that add up to ${sum}, half the size of a head`, value);
}

/** The side of a square under `key`: a number, or two equal ones. @throws ConfigError otherwise */
export function readSquare(source: Json, key: string, fallback: number): number {
  const value = source[key] ?? fallback;
  const [side, other = side] = Array.isArray(value) ? value : [value];
  if (Number.isInteger(side) && side === other && side > 0 && side <= MOST) return side;
  throw wrong(key, 'the side of a square', value);
}

/** Patches per side of square tiles that are whole units. @throws ConfigError otherwise */
export function readTileSide(
  vision: Json,
  {
    patchSize,
    mergeSize,
    imageSize,
  }: { readonly patchSize: number; readonly mergeSize: number; readonly imageSize: number },
): number {
  const pixels = readSquare(vision, 'image_size', imageSize);
  const side = Math.floor(pixels / patchSize);
  if (side > 0 && side % mergeSize === 0) return side;
  const what = `the side of tiles that ${mergeSize} × ${mergeSize} patches of ${patchSize} pixels fill`;
  throw wrong('image_size', what, pixels);
}

/** @throws ConfigError unless the heads under `key` divide a width into parts of a multiple */
export function expectDivides(key: string, heads: number, width: number, multiple: number): void {
  const size = width / heads;
  if (Number.isInteger(size) && size % multiple === 0) return;
  throw wrong(key, `a number that divides ${width} into parts of a multiple of ${multiple}`, heads);
}

/** @throws ConfigError if there is a text under `key` that is none of these */
export function expectOneOf(source: Json, key: string, known: readonly string[]): void {
  const value = source[key] ?? known[0];
  if (known.includes(value as string)) return;
  throw wrong(key, `${known.join(' or ')}: nothing else is computed here`, value);
}
