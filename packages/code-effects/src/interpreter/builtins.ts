/** Python's own functions, and the methods of its own types. */
import { BudgetExceededError } from './budget.ts';
import { itemsOf, pythonRound, rangeOf } from './operators.ts';
import {
  type Arguments,
  boolean,
  isFollowed,
  isSame,
  keyOf,
  list,
  none,
  number,
  numberOf,
  PythonError,
  text,
  truthOf,
  tuple,
  unknown,
  type Value,
} from './values.ts';

/** Names that are bound before any code runs. */
export const builtinNames: ReadonlySet<string> = new Set(
  (
    'abs all any ascii bin bool bytearray bytes callable chr classmethod compile complex delattr ' +
    'dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr ' +
    'hash help hex id input int isinstance issubclass iter len list locals map max memoryview min ' +
    'next object oct open ord pow print property quit exit range repr reversed round set setattr ' +
    'slice sorted staticmethod str sum super tuple type vars zip __import__ __file__ __builtins__ ' +
    'BaseException Exception ArithmeticError AssertionError AttributeError EOFError IOError ' +
    'FileNotFoundError ImportError IndexError KeyError KeyboardInterrupt LookupError MemoryError ' +
    'ModuleNotFoundError NameError NotImplementedError NotImplemented OSError OverflowError ' +
    'PermissionError RecursionError RuntimeError RuntimeWarning StopIteration SyntaxError ' +
    'SystemExit TimeoutError TypeError UnboundLocalError UnicodeDecodeError UserWarning ValueError ' +
    'DeprecationWarning FutureWarning Warning ZeroDivisionError'
  ).split(' '),
);

const errors = /(Error|Exception|Exit|Interrupt|Iteration)$/;

type Call = (callee: Value, args: readonly Value[]) => Value;

/** The value of a call of a built-in function. */
export function callBuiltin(name: string, args: Arguments, call: Call): Value {
  const [first, second, third] = args.positional;
  const value = numberOf(first);
  const items = first && itemsOf(first);
  if (errors.test(name)) return { kind: 'object', type: name, fields: new Map() };
  switch (name) {
    case 'int':
      if (value !== undefined) return number(Math.trunc(value), true);
      if (first?.kind === 'text') return parsed(first.value, true);
      return unknown;
    case 'float':
      if (first?.kind === 'text') return parsed(first.value, false);
      return value === undefined ? unknown : number(value, false);
    case 'round': {
      const digits = numberOf(second);
      if (value === undefined) return unknown;
      if (digits === undefined) return number(pythonRound(value), true);
      // Beyond 15 digits there is nothing to round.
      return digits > 15
        ? number(value, false)
        : number(Number(value.toFixed(Math.max(0, Math.trunc(digits)))), false);
    }
    case 'abs':
      if (value === undefined) return unknown;
      return number(Math.abs(value), first?.kind !== 'number' || first.isInteger);
    case 'min':
    case 'max':
      return extreme(name, args);
    case 'sum': {
      const numbers = items?.map(numberOf);
      if (numbers === undefined || numbers.includes(undefined)) return unknown;
      return number((numbers as number[]).reduce((sum, item) => sum + item, numberOf(second) ?? 0));
    }
    case 'len':
      if (items !== undefined) return number(items.length, true);
      if (first?.kind === 'dictionary' && !first.isOpen) return number(first.entries.size, true);
      return unknown;
    case 'range': {
      const bounds = args.positional.map(numberOf);
      if (bounds.includes(undefined)) return unknown;
      const [a = 0, b, step = 1] = bounds as number[];
      return b === undefined ? rangeOf(0, a, 1) : rangeOf(a, b, step);
    }
    case 'enumerate': {
      const from = numberOf(args.get(1, 'start')) ?? 0;
      if (items === undefined) return unknown;
      return list(items.map((item, index) => tuple([number(from + index, true), item])));
    }
    case 'zip': {
      const columns = args.positional.map(itemsOf);
      if (columns.includes(undefined)) return unknown;
      const known = columns as (readonly Value[])[];
      const count = known.length === 0 ? 0 : Math.min(...known.map(({ length }) => length));
      if (!isFollowed(count * known.length)) return unknown;
      const row = (index: number): Value => tuple(known.map((column) => column[index] ?? unknown));
      return list(Array.from({ length: count }, (_, index) => row(index)));
    }
    case 'map': {
      const lists = args.positional.slice(1).map(itemsOf);
      const [only] = lists;
      if (first === undefined || only === undefined || lists.length !== 1) return unknown;
      return list(only.map((item) => call(first, [item])));
    }
    case 'filter': {
      const from = second && itemsOf(second);
      if (first === undefined || from === undefined) return unknown;
      const kept = from.map((item) => truthOf(first.kind === 'none' ? item : call(first, [item])));
      if (kept.includes(undefined)) return unknown;
      return list(from.filter((_, index) => kept[index] === true));
    }
    case 'list':
    case 'tuple':
    case 'iter':
      if (first === undefined) return name === 'tuple' ? tuple([]) : list([]);
      if (items === undefined) return unknown;
      return name === 'tuple' ? tuple([...items]) : list([...items]);
    case 'set':
    case 'frozenset':
      if (first === undefined) return list([]);
      if (items === undefined) return unknown;
      return list(distinct(items));
    case 'reversed':
      return items === undefined ? unknown : list([...items].reverse());
    case 'sorted': {
      const isReversed = truthOf(args.get(-1, 'reverse') ?? none);
      return items === undefined || isReversed === undefined
        ? unknown
        : sorted(items, args.get(-1, 'key'), isReversed, call);
    }
    case 'dict': {
      const entries = new Map<string, Value>();
      for (const [key, item] of args.named) entries.set(`'${key}`, item);
      return { kind: 'dictionary', entries, isOpen: args.positional.length > 0 };
    }
    case 'str':
    case 'repr':
      return first === undefined ? text('') : (textOf(first) ?? unknown);
    case 'bool': {
      const truth = first === undefined ? false : truthOf(first);
      return truth === undefined ? unknown : boolean(truth);
    }
    case 'any':
    case 'all': {
      const truths = items?.map(truthOf);
      if (truths === undefined || truths.includes(undefined)) return unknown;
      return boolean(name === 'any' ? truths.includes(true) : !truths.includes(false));
    }
    case 'divmod': {
      const by = numberOf(second);
      if (value === undefined || by === undefined) return unknown;
      if (by === 0) throw new PythonError('ZeroDivisionError');
      const quotient = Math.floor(value / by);
      return tuple([number(quotient), number(value - by * quotient)]);
    }
    case 'pow': {
      const power = numberOf(second);
      return value === undefined || power === undefined ? unknown : number(value ** power);
    }
    case 'slice': {
      const [lower, upper] = second === undefined ? [none, first ?? none] : [first ?? none, second];
      return { kind: 'slice', lower, upper, step: third ?? none };
    }
    case 'exit':
    case 'quit':
      throw new PythonError('SystemExit');
    case 'next':
      return items?.[0] ?? unknown;
    case 'print':
    case 'display':
      return none;
    default:
      return unknown;
  }
}

/** The first of each, as far as they can be told apart. */
function distinct(items: readonly Value[]): Value[] {
  const seen = new Set<Value | string>();
  return items.filter((item) => {
    const key = keyOf(item) ?? item;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function parsed(written: string, isInteger: boolean): Value {
  const value = Number(written.trim());
  const isRead = written.trim() !== '' && !Number.isNaN(value);
  if (!isRead || (isInteger && !Number.isInteger(value))) throw new PythonError('ValueError');
  return number(value, isInteger);
}

function extreme(name: 'min' | 'max', args: Arguments): Value {
  const [first] = args.positional;
  const single = args.positional.length === 1 && first !== undefined;
  const items = single ? itemsOf(first) : args.positional;
  if (items === undefined || args.named.has('key')) return unknown;
  const numbers = items.map(numberOf);
  if (numbers.length === 0 || numbers.includes(undefined)) return unknown;
  const known = numbers as number[];
  const best = name === 'min' ? Math.min(...known) : Math.max(...known);
  return items[known.indexOf(best)] ?? unknown;
}

function sorted(
  items: readonly Value[],
  key: Value | undefined,
  isReversed: boolean,
  call: Call,
): Value {
  const keys = items.map((item) => numberOf(key === undefined ? item : call(key, [item])));
  if (keys.includes(undefined)) return unknown;
  const order = items.map((_, index) => index);
  const sign = isReversed ? -1 : 1;
  order.sort((a, b) => sign * ((keys[a] as number) - (keys[b] as number)));
  return list(order.map((index) => items[index] ?? unknown));
}

/** The text that `str()` and f-strings make of a value; undefined if it is not known. */
export function textOf(value: Value): Value | undefined {
  if (value.kind === 'text') return value;
  if (value.kind === 'number' && value.isInteger) return text(String(value.value));
  if (value.kind === 'boolean') return text(value.value ? 'True' : 'False');
  if (value.kind === 'none') return text('None');
  return undefined;
}

/** Adds to a list in place. @throws BudgetExceededError where it becomes larger than lists are followed */
export function extend(items: Value[], added: readonly Value[]): void {
  if (!isFollowed(items.length + added.length + 1)) throw new BudgetExceededError('size');
  items.push(...added);
}

/** Methods of lists, dictionaries and texts. */
export function callPlainMethod(self: Value, name: string, args: Arguments): Value {
  const [first, second] = args.positional;
  if (self.kind === 'sequence' && !self.isTuple) {
    const { items } = self;
    if (name === 'append' && first !== undefined) extend(items, [first]);
    else if (name === 'extend') extend(items, (first && itemsOf(first)) ?? [unknown]);
    else if (name === 'insert' && second !== undefined) {
      extend(items, []);
      items.splice(numberOf(first) ?? 0, 0, second);
    } else if (name === 'pop') return items.splice(numberOf(first) ?? -1, 1)[0] ?? unknown;
    else if (name === 'reverse') items.reverse();
    else if (name === 'clear') items.length = 0;
    else if (name === 'copy') return list([...items]);
    else if (name === 'sort') {
      const isReversed = truthOf(args.get(-1, 'reverse') ?? none) === true;
      const result = sorted(items, undefined, isReversed, () => unknown);
      const isKnown = result.kind === 'sequence' && !args.named.has('key');
      items.splice(0, items.length, ...(isKnown ? result.items : items.map(() => unknown)));
    }
  }
  if (self.kind === 'sequence' && name === 'index' && first !== undefined) {
    const at = self.items.findIndex((item) => isSame(item, first));
    return at < 0 ? unknown : number(at, true);
  }
  if (self.kind === 'sequence' && name === 'count') return unknown;
  if (self.kind === 'dictionary') return callDictionary(self, name, first, second);
  if (self.kind === 'text') {
    if (name === 'format') return unknown;
    const changes: Readonly<Record<string, (own: string) => string>> = {
      upper: (own) => own.toUpperCase(),
      lower: (own) => own.toLowerCase(),
      strip: (own) => own.trim(),
    };
    const change = args.positional.length === 0 ? changes[name] : undefined;
    return change === undefined ? unknown : text(change(self.value));
  }
  return self.kind === 'sequence' ? none : unknown;
}

function callDictionary(
  self: Value & { kind: 'dictionary' },
  name: string,
  first: Value | undefined,
  second: Value | undefined,
): Value {
  const { entries, isOpen } = self;
  if (name === 'get' && first !== undefined) {
    const key = keyOf(first);
    const found = key === undefined ? undefined : entries.get(key);
    if (found !== undefined) return found;
    return key === undefined || isOpen ? unknown : (second ?? none);
  }
  if (isOpen) return unknown;
  if (name === 'values') return list([...entries.values()]);
  if (name !== 'items' && name !== 'keys') return unknown;
  const keys = [...entries.keys()].map((key) => {
    if (key.startsWith("'")) return text(key.slice(1));
    return key.startsWith('(') ? unknown : number(Number(key));
  });
  if (name === 'keys') return list(keys);
  return list([...entries.values()].map((item, index) => tuple([keys[index] ?? unknown, item])));
}
