/** Looking names up, binding them, and what they are after a branch that is not known. */
import { builtinNames } from './builtins.ts';
import {
  type Arguments,
  type FunctionValue,
  keyOf,
  PythonError,
  type Scope,
  tuple,
  unknown,
  type Value,
} from './values.ts';

/** The value of a name. @throws PythonError where nothing binds it */
export function lookUp(name: string, scope: Scope): Value {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const value = at.variables.get(name);
    if (value !== undefined) return value;
    if (at.outer === undefined && at.variables.has('*')) return unknown;
  }
  if (builtinNames.has(name) || name === 'display')
    return { kind: 'path', path: `builtins.${name}` };
  throw new PythonError('NameError', `name '${name}' is not defined`);
}

export function bind(name: string, value: Value, scope: Scope): void {
  let at = scope;
  if (scope.globals.has(name)) while (at.outer !== undefined) at = at.outer;
  at.variables.set(name, value);
}

/** The scope of a call. @throws PythonError where an argument is missing */
export function bindArguments(callee: FunctionValue, args: Arguments): Scope {
  const variables = new Map<string, Value>(callee.fallbacks);
  let place = 0;
  for (const { name, stars } of callee.parameters) {
    if (stars === 1) {
      variables.set(name, tuple(args.positional.slice(place)));
      place = args.positional.length;
    } else if (stars === 2) variables.set(name, unknown);
    else {
      const given = args.positional[place++] ?? args.named.get(name);
      if (given !== undefined) variables.set(name, given);
      else if (!variables.has(name)) throw new PythonError('TypeError', `no argument ${name}`);
    }
  }
  return { variables, outer: callee.scope, globals: new Set() };
}

/** The value of a name after two branches, one of which ran. */
export function mergeValues(a: Value, b: Value): Value {
  if (a.kind === 'image' && b.kind === 'image' && a.image.id !== b.image.id) {
    const [left, right] = [a.image, b.image];
    // Two views of the same pixels at the same place, e.g. before and after a conversion.
    const isAlike =
      left.source === right.source &&
      left.width === right.width &&
      left.height === right.height &&
      String(left.toCanonical) === String(right.toCanonical);
    if (isAlike) return b;
    const { id, form, source } = b.image;
    const sameSize = left.width === right.width && left.height === right.height;
    const { width, height } = right;
    const size =
      sameSize && width !== undefined && height !== undefined ? { width, height } : undefined;
    return { kind: 'image', image: { id, form, ...size, ...(source && { source }) } };
  }
  return isSameOrUnknown(a, b);
}

function isSameOrUnknown(a: Value, b: Value): Value {
  if (a === b) return a;
  const [left, right] = [keyOf(a), keyOf(b)];
  if (left !== undefined && left === right) return a;
  return a.kind === 'image' && b.kind === 'image' ? a : unknown;
}
