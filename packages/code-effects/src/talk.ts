/** Tells code that only talks from code that works. */
import type { Expression, Statement } from './syntax/ast.ts';

/** A statement that does nothing: `pass`, a string or a number on its own. */
export function isIdle(statement: Statement): boolean {
  if (statement.kind === 'pass') return true;
  return (
    statement.kind === 'expression' &&
    ['text', 'number', 'none', 'ellipsis'].includes(statement.value.kind)
  );
}

/**
 * Whether code does nothing but print what it was written with: literals, f-strings of them, and
 * names that it gave to such. Arithmetic is work, text put together is not.
 */
export function onlyPrints(statements: readonly Statement[]): boolean {
  const spoken = new Set<string>();
  let prints = 0;
  const isSpoken = (statement: Statement): boolean => {
    if (isIdle(statement) || statement.kind === 'import') return true;
    if (statement.kind === 'assign') {
      if (!isWritten(statement.value, spoken)) return false;
      return statement.targets.every((target) => {
        if (target.kind !== 'name') return false;
        spoken.add(target.name);
        return true;
      });
    }
    if (statement.kind !== 'expression' || statement.value.kind !== 'call') return false;
    const { callee, arguments: given } = statement.value;
    if (callee.kind !== 'name' || callee.name !== 'print') return false;
    prints++;
    return given.every(({ value }) => isWritten(value, spoken));
  };
  return statements.every(isSpoken) && prints > 0;
}

function isWritten(expression: Expression, spoken: ReadonlySet<string>): boolean {
  const all = (parts: readonly Expression[]): boolean =>
    parts.every((part) => isWritten(part, spoken));
  switch (expression.kind) {
    case 'text':
    case 'number':
    case 'boolean':
    case 'none':
      return true;
    case 'name':
      return spoken.has(expression.name);
    case 'format':
      return all(expression.parts);
    case 'list':
      return all(expression.items);
    case 'dictionary':
      return expression.entries.every(all);
    case 'unary':
      return isWritten(expression.operand, spoken);
    case 'binary': {
      // "-" * 20, "a" + name
      const { left, right } = expression;
      const isText = [left, right].some(({ kind }) => kind === 'text' || kind === 'format');
      return isText && all([left, right]);
    }
    default:
      return false;
  }
}
