/** Operators, indices and comparisons of Python on values that are known. */
import {
  boolean,
  isFollowed,
  isSame,
  list,
  number,
  numberOf,
  PythonError,
  type SequenceValue,
  text,
  truthOf,
  unknown,
  type Value,
} from './values.ts';

/** A whole number, rounded as Python's round does: halves to even. */
export function pythonRound(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

export function applyUnary(operator: string, operand: Value): Value {
  if (operator === 'not') {
    const truth = truthOf(operand);
    return truth === undefined ? unknown : boolean(!truth);
  }
  const value = numberOf(operand);
  if (value === undefined) return unknown;
  const isInteger = operand.kind !== 'number' || operand.isInteger;
  if (operator === '-') return number(-value, isInteger);
  if (operator === '+') return number(value, isInteger);
  if (operator === '~' && isInteger) return number(~value);
  return unknown;
}

export function applyBinary(operator: string, left: Value, right: Value): Value {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) {
    const isInteger =
      (left.kind !== 'number' || left.isInteger) && (right.kind !== 'number' || right.isInteger);
    return arithmetic(operator, a, b, isInteger);
  }
  if (left.kind === 'text' && right.kind === 'text' && operator === '+') {
    return text(left.value + right.value);
  }
  if (left.kind === 'sequence' && right.kind === 'sequence' && operator === '+') {
    if (!isFollowed(left.items.length + right.items.length)) return unknown;
    return { ...left, items: [...left.items, ...right.items] };
  }
  if (operator === '*') {
    if (left.kind === 'sequence' && b !== undefined) return repeated(left, b);
    if (right.kind === 'sequence' && a !== undefined) return repeated(right, a);
  }
  return unknown;
}

function repeated(sequence: SequenceValue, count: number): Value {
  if (!Number.isInteger(count) || !isFollowed(count * Math.max(1, sequence.items.length))) {
    return unknown;
  }
  const items = Array.from({ length: Math.max(0, count) }, () => sequence.items).flat();
  return { ...sequence, items };
}

function arithmetic(operator: string, a: number, b: number, isInteger: boolean): Value {
  switch (operator) {
    case '+':
      return number(a + b, isInteger);
    case '-':
      return number(a - b, isInteger);
    case '*':
      return number(a * b, isInteger);
    case '**':
      return number(a ** b, isInteger && b >= 0);
    case '/':
    case '//':
    case '%':
      if (b === 0) throw new PythonError('ZeroDivisionError');
      if (operator === '/') return number(a / b, false);
      if (operator === '//') return number(Math.floor(a / b), isInteger);
      return number(a - b * Math.floor(a / b), isInteger);
    case '<<':
      return number(a * 2 ** b, true);
    case '>>':
      return number(Math.floor(a / 2 ** b), true);
    case '&':
      return number(a & b, true);
    case '|':
      return number(a | b, true);
    case '^':
      return number(a ^ b, true);
    default:
      return unknown;
  }
}

export function compare(operator: string, left: Value, right: Value): Value {
  if (operator === 'is' || operator === 'is not') {
    const [isLeftNone, isRightNone] = [left.kind === 'none', right.kind === 'none'];
    if ([left, right].some(({ kind }) => kind === 'unknown' || kind === 'method')) return unknown;
    const isEqual = isLeftNone || isRightNone ? isLeftNone === isRightNone : isSame(left, right);
    return boolean(isEqual === (operator === 'is'));
  }
  if (operator === 'in' || operator === 'not in') {
    const found = contains(right, left);
    return found === undefined ? unknown : boolean(found === (operator === 'in'));
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) {
    const results: Readonly<Record<string, boolean>> = {
      '<': a < b,
      '>': a > b,
      '<=': a <= b,
      '>=': a >= b,
      '==': a === b,
      '!=': a !== b,
    };
    const result = results[operator];
    return result === undefined ? unknown : boolean(result);
  }
  const isEquality = operator === '==' || operator === '!=';
  if (!isEquality || left.kind === 'image' || right.kind === 'image') return unknown;
  if (isSame(left, right)) return boolean(operator === '==');
  const plain = ['text', 'number', 'boolean', 'none'];
  if (!plain.includes(left.kind) || !plain.includes(right.kind)) return unknown;
  return boolean(operator === '!=');
}

/** Comparisons of characters that a search may take. */
const MAX_SEARCHED = 65_536;

function contains(container: Value, item: Value): boolean | undefined {
  if (container.kind === 'text' && item.kind === 'text') {
    // A search takes their product at worst.
    const isShort = container.value.length * item.value.length <= MAX_SEARCHED;
    return isShort ? container.value.includes(item.value) : undefined;
  }
  if (container.kind !== 'sequence' || item.kind === 'unknown') return undefined;
  if (container.items.some((own) => isSame(own, item))) return true;
  return container.items.some(({ kind }) => kind === 'unknown') ? undefined : false;
}

/** Start, end and step of a slice over `length` items, as Python settles them. */
export function settleSlice(
  slice: Value & { kind: 'slice' },
  length: number,
): { readonly start: number; readonly end: number; readonly step: number } | undefined {
  const side = (value: Value): number | undefined | 'open' =>
    value.kind === 'none' ? 'open' : numberOf(value);
  const [lower, upper, given] = [side(slice.lower), side(slice.upper), side(slice.step)];
  if (lower === undefined || upper === undefined || given === undefined) return undefined;
  const step = given === 'open' ? 1 : given;
  if (step === 0) throw new PythonError('ValueError', 'slice step cannot be zero');
  for (const value of [lower, upper, step]) {
    if (value !== 'open' && !Number.isInteger(value)) {
      throw new PythonError('TypeError', 'slice indices must be integers');
    }
  }
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const settle = (value: number | 'open', open: number): number => {
    if (value === 'open') return open;
    const at = value < 0 ? value + length : value;
    return Math.min(most, Math.max(least, at));
  };
  const [first, last] = step > 0 ? [least, most] : [most, least];
  return { start: settle(lower, first), end: settle(upper, last), step };
}

/** An item or a part of a sequence, a text or a dictionary. */
export function indexPlain(container: Value, index: Value): Value {
  if (container.kind === 'sequence' || container.kind === 'text') {
    const items =
      container.kind === 'text' ? [...container.value].map(text) : (container.items as Value[]);
    if (index.kind === 'slice') {
      const settled = settleSlice(index, items.length);
      if (settled === undefined) return unknown;
      const { start, end, step } = settled;
      const part: Value[] = [];
      for (let at = start; step > 0 ? at < end : at > end; at += step) {
        part.push(items[at] ?? unknown);
      }
      if (container.kind === 'sequence') return { ...container, items: part };
      return text(part.map((item) => (item.kind === 'text' ? item.value : '')).join(''));
    }
    const at = numberOf(index);
    if (at === undefined || !Number.isInteger(at)) return unknown;
    const item = items[at < 0 ? at + items.length : at];
    if (item === undefined) throw new PythonError('IndexError');
    return item;
  }
  return unknown;
}

/** The items a loop goes over, where they are known. */
export function itemsOf(value: Value): readonly Value[] | undefined {
  if (value.kind === 'sequence') return value.items;
  if (value.kind === 'text') return [...value.value].map(text);
  return undefined;
}

/** The numbers of a range as a list. */
export function rangeOf(start: number, end: number, step: number): Value {
  if (step === 0) throw new PythonError('ValueError', 'range() arg 3 must not be zero');
  const count = Math.max(0, Math.ceil((end - start) / step));
  if (!isFollowed(count)) return unknown;
  return list(Array.from({ length: count }, (_, index) => number(start + index * step, true)));
}
