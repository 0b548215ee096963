/** The values of expressions, as far as they are known without running them. */
import type { Affine } from '../geometry.ts';
import type { Expression, Parameter, Statement } from '../syntax/ast.ts';
import { MAX_COMPARED, MAX_ITEMS, MAX_TEXT } from './budget.ts';

/** An image in memory, as Pillow or as an array; in-place methods replace what it holds. */
export interface Image {
  readonly id: string;
  readonly form: 'pillow' | 'array';
  /** Pixels; undefined where they could not be followed. */
  readonly width?: number;
  readonly height?: number;
  /** The input that its pixels come from, and the map into that input's canonical frame. */
  readonly source?: string;
  readonly toCanonical?: Affine;
}

export interface ImageValue {
  readonly kind: 'image';
  image: Image;
}

/** Names bound where the code stands; a function's scope leads to that of the module. */
export interface Scope {
  variables: Map<string, Value>;
  readonly outer?: Scope;
  readonly globals: Set<string>;
}

export interface FunctionValue {
  readonly kind: 'function';
  readonly parameters: readonly Parameter[];
  readonly fallbacks: ReadonlyMap<string, Value>;
  readonly body: readonly Statement[] | Expression;
  readonly scope: Scope;
}

export interface SequenceValue {
  readonly kind: 'sequence';
  readonly items: Value[];
  readonly isTuple: boolean;
  /** A shape: two names take its first two numbers, as there may be no third. */
  readonly isShape?: boolean;
}

/** Something of a library: an enhancer of an image, a font, axes of a figure. */
export interface ObjectValue {
  readonly kind: 'object';
  readonly type: string;
  readonly fields: Map<string, Value>;
}

export type Value =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'number'; readonly value: number; readonly isInteger: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'none' }
  | { readonly kind: 'ellipsis' }
  | SequenceValue
  | { readonly kind: 'dictionary'; readonly entries: Map<string, Value>; readonly isOpen: boolean }
  | {
      readonly kind: 'slice';
      readonly lower: Value;
      readonly upper: Value;
      readonly step: Value;
    }
  | ImageValue
  | FunctionValue
  /** `image.crop` before it is called. */
  | { readonly kind: 'method'; readonly self: Value; readonly name: string }
  /** Something of a module by its dotted path: `numpy.rot90`. */
  | { readonly kind: 'path'; readonly path: string }
  | ObjectValue;

export const unknown: Value = { kind: 'unknown' };
export const none: Value = { kind: 'none' };

export function number(value: number, isInteger: boolean = Number.isInteger(value)): Value {
  return Number.isFinite(value) ? { kind: 'number', value, isInteger } : unknown;
}

/** A text; unknown where it is longer than texts are followed. */
export function text(value: string): Value {
  return value.length > MAX_TEXT ? unknown : { kind: 'text', value };
}

export function boolean(value: boolean): Value {
  return { kind: 'boolean', value };
}

export function tuple(items: Value[]): SequenceValue {
  return { kind: 'sequence', items, isTuple: true };
}

export function list(items: Value[]): SequenceValue {
  return { kind: 'sequence', items, isTuple: false };
}

export function object(type: string, fields: Readonly<Record<string, Value>> = {}): ObjectValue {
  return { kind: 'object', type, fields: new Map(Object.entries(fields)) };
}

/** Its number; True and False count as 1 and 0, as they do in Python. */
export function numberOf(value: Value | undefined): number | undefined {
  if (value?.kind === 'number') return value.value;
  if (value?.kind === 'boolean') return value.value ? 1 : 0;
  return undefined;
}

/** The numbers of a sequence, if all are known. */
export function numbersOf(value: Value | undefined): readonly number[] | undefined {
  if (value?.kind !== 'sequence') return undefined;
  const numbers = value.items.map(numberOf);
  return numbers.every((item) => item !== undefined) ? (numbers as number[]) : undefined;
}

/** Whether a value counts as true, where that is known. */
export function truthOf(value: Value): boolean | undefined {
  switch (value.kind) {
    case 'unknown':
    case 'object':
      return undefined;
    case 'method':
      return value.self.kind === 'unknown' ? undefined : true;
    case 'number':
      return value.value !== 0;
    case 'boolean':
      return value.value;
    case 'text':
      return value.value !== '';
    case 'none':
      return false;
    case 'sequence':
      return value.items.length > 0;
    case 'dictionary':
      return value.isOpen ? undefined : value.entries.size > 0;
    case 'image':
      return value.image.form === 'pillow' ? true : undefined;
    default:
      return true;
  }
}

/** Parts that may still be looked at: a list may hold itself, or the same list many times. */
interface Looks {
  left: number;
}

/** How a dictionary tells keys apart; undefined for a key that is not known, or of many parts. */
export function keyOf(value: Value, looks: Looks = { left: MAX_COMPARED }): string | undefined {
  if (--looks.left < 0) return undefined;
  if (value.kind === 'text') return `'${value.value}`;
  const scalar = numberOf(value);
  if (scalar !== undefined) return String(scalar);
  if (value.kind !== 'sequence') return undefined;
  const parts: string[] = [];
  for (const item of value.items) {
    const part = keyOf(item, looks);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return `(${parts.join()})`;
}

/** Whether two values are known to be the same; of those of many parts it is not. */
export function isSame(a: Value, b: Value, looks: Looks = { left: MAX_COMPARED }): boolean {
  if (--looks.left < 0) return false;
  if (a === b) return a.kind !== 'unknown';
  if (a.kind === 'image' && b.kind === 'image') return a.image.id === b.image.id;
  if (a.kind === 'none' && b.kind === 'none') return true;
  if (a.kind === 'path' && b.kind === 'path') return a.path === b.path;
  if (a.kind === 'sequence' && b.kind === 'sequence') {
    if (a.items.length !== b.items.length || a.isTuple !== b.isTuple) return false;
    return a.items.every((item, index) => isSame(item, b.items[index] ?? unknown, looks));
  }
  const [left, right] = [keyOf(a, looks), keyOf(b, looks)];
  return left !== undefined && left === right;
}

/** Whether a list of this length is followed. */
export function isFollowed(count: number): boolean {
  return count <= MAX_ITEMS;
}

/** Steps that it takes to go through a value once. */
export function weightOf(value: Value | undefined): number {
  if (value?.kind === 'sequence') return value.items.length >> 3;
  if (value?.kind === 'dictionary') return value.entries.size >> 3;
  return value?.kind === 'text' ? value.value.length >> 6 : 0;
}

/** An error that the code raises for certain. */
export class PythonError extends Error {
  readonly type: string;

  constructor(type: string, message = '') {
    super(message);
    this.type = type;
  }
}

/** Arguments of a call. */
export class Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;

  constructor(positional: readonly Value[], named: ReadonlyMap<string, Value> = new Map()) {
    this.positional = positional;
    this.named = named;
  }

  /** By place, or by one of its names. */
  get(index: number, ...names: readonly string[]): Value | undefined {
    const placed = index < 0 ? undefined : this.positional[index];
    if (placed !== undefined) return placed;
    for (const name of names) {
      const named = this.named.get(name);
      if (named !== undefined) return named;
    }
    return undefined;
  }

  number(index: number, ...names: readonly string[]): number | undefined {
    return numberOf(this.get(index, ...names));
  }

  /** Without the first argument: of a module's function on an image, what a method would get. */
  rest(): Arguments {
    return new Arguments(this.positional.slice(1), this.named);
  }

  all(): readonly Value[] {
    return [...this.positional, ...this.named.values()];
  }
}
