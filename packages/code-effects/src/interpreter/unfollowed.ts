/** Judges calls that led to no known operation: what they may have done. */
import { dispatchers, kindsNamed } from '../attempts.ts';
import type { Expression } from '../syntax/ast.ts';
import { itemsOf } from './operators.ts';
import type { Session } from './session.ts';
import type { Arguments, Value } from './values.ts';

/** A call that no operation came of: it may be one by its name, or run what it is given. */
export function judgeUnfollowed(
  session: Session,
  callee: Value,
  args: Arguments,
  node: Expression,
): void {
  const { line } = node;
  if (callee.kind === 'unknown') {
    session.isOpen = true;
    session.unknownCalls++;
    for (const given of args.all()) if (given.kind === 'text') session.runText(given, line);
  }
  for (const given of args.all()) {
    // The callee may call its arguments: a function, a method of an image.
    if (given.kind === 'function' || given.kind === 'method') session.isOpen = true;
    const kinds = given.kind === 'method' ? kindsNamed(given.name) : undefined;
    if (kinds !== undefined) session.attempt(kinds, line);
  }
  const name =
    callee.kind === 'method' ? callee.name : callee.kind === 'path' ? callee.path : undefined;
  if (name === undefined) return;
  const last = name.split('.').at(-1) ?? '';
  if (callee.kind === 'method' && callee.self.kind === 'unknown') session.unknownCalls++;
  const kinds = kindsNamed(last);
  if (kinds !== undefined && !permutesChannels(args)) session.attempt(kinds, line);
  if (!dispatchers.has(last)) return;
  session.followed.add(node);
  // `getattr(image, name)` and `methodcaller(name)` say what is called, `exec(code)` what is run.
  const texts = args.all().filter(({ kind }) => kind === 'text');
  const isNamed = callee.kind === 'path' && last === 'getattr';
  session.runText(isNamed ? args.positional[1] : (texts[0] ?? args.positional[0]), line);
}

/** Something that is known not to be an image is called on: a text's `transform`, a list's. */
export function isPlain(callee: Value, args: Arguments): boolean {
  if (callee.kind === 'function') return true;
  if (callee.kind !== 'method') {
    const [first] = args.positional;
    const isDispatch =
      callee.kind === 'path' && dispatchers.has(callee.path.split('.').at(-1) ?? '');
    return callee.kind === 'path' && !isDispatch && first !== undefined && isScalarOrText(first);
  }
  return isScalarOrText(callee.self) || callee.self.kind === 'sequence';
}

function isScalarOrText({ kind }: Value): boolean {
  return kind === 'text' || kind === 'number' || kind === 'boolean' || kind === 'none';
}

/** Three axes in an order, `(1, 2, 0)`: color comes first or last, nothing is turned. */
function permutesChannels(args: Arguments): boolean {
  const orders = [args.positional, ...args.positional.map((value) => itemsOf(value) ?? [])];
  return orders.some((axes) => axes.length === 3 && axes.every(({ kind }) => kind === 'number'));
}
