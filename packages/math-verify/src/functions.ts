/** Functions by name, with the ways their power, base and argument are written. */
import type { MathParser } from './cursor.ts';
import type { Expression } from './expression.ts';
import { functionNames, greek, inverses, trigonometric } from './names.ts';

/** After a function's name: its power, its base, its argument. */
export function parseFunction(parser: MathParser, name: string): Expression {
  let exponent: Expression | undefined;
  let base: Expression | undefined;
  let called = name;
  if (name === 'sqrt' && parser.isSign('[')) {
    parser.next();
    base = parser.expression();
    parser.expectSign(']');
  }
  for (let part = 0; part < 2; part++) {
    if (parser.isSign('_')) {
      parser.next();
      base = parser.argument();
    } else if (parser.isSign('^', '**') && trigonometric.has(name)) {
      parser.next();
      exponent = parser.isSign('-') ? negated(parser) : parser.argument();
    }
  }
  if (exponent?.kind === 'negate' && exponent.of.kind === 'number' && exponent.of.value === 1) {
    const inverse = inverses[name];
    if (inverse !== undefined) {
      called = inverse;
      exponent = undefined;
    }
  }
  const args = parseCallArguments(parser, name);
  if (base !== undefined) args.push(base);
  const call: Expression = { kind: 'call', name: called, args };
  return exponent === undefined ? call : { kind: 'power', base: call, exponent };
}

function negated(parser: MathParser): Expression {
  parser.next();
  return { kind: 'negate', of: parser.argument() };
}

function parseCallArguments(parser: MathParser, name: string): Expression[] {
  if (name === 'sqrt' || name === 'cbrt') {
    if (parser.isSign('(')) return argumentsInBrackets(parser);
    return [parser.argument()];
  }
  if (parser.isSign('(')) return argumentsInBrackets(parser);
  // sin 2x: the factors up to the next operator, bracket or function.
  const factors = [parser.factor()];
  for (;;) {
    const token = parser.peek();
    const isFunction =
      token !== undefined &&
      token.kind !== 'number' &&
      Object.hasOwn(functionNames, token.text) &&
      token.text.length > 1;
    const isLetter =
      token?.kind === 'word' ||
      (token?.kind === 'command' && (greek.has(token.text) || token.text === 'pi'));
    if (!isLetter || isFunction) break;
    factors.push(parser.factor());
  }
  const [only] = factors;
  return factors.length === 1 && only ? [only] : [{ kind: 'product', factors }];
}

function argumentsInBrackets(parser: MathParser): Expression[] {
  parser.next();
  const args = [parser.relation()];
  while (parser.isSign(',')) {
    parser.next();
    args.push(parser.relation());
  }
  parser.expectSign(')');
  return args;
}
