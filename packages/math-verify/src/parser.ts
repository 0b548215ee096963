/**
 * Parses mathematics in LaTeX or plain notation by recursive descent: one object (a number, an
 * expression, a set, a matrix, a relation), not a list of answers.
 */

import type { MathParser } from './cursor.ts';
import type { Expression, Relation } from './expression.ts';
import { relationNames } from './names.ts';
import { parseArgument, parsePrimary } from './primary.ts';
import { NotMathematics, type Token, tokensOf } from './tokens.ts';

/** Nesting beyond any answer, and far within the stack. */
const maxDepth = 120;

/** @throws NotMathematics for anything else */
export function parseMath(text: string): Expression {
  const parser = openParser(tokensOf(text));
  const expression = parser.relation();
  if (parser.peek() !== undefined) throw new NotMathematics(`unread ${parser.peek()?.text}`);
  return expression;
}

function openParser(tokens: readonly Token[]): MathParser {
  let at = 0;
  let depth = 0;
  const deeper = <Result>(run: () => Result): Result => {
    if (++depth > maxDepth) throw new NotMathematics('nested too deeply');
    const result = run();
    depth--;
    return result;
  };
  const parser: MathParser = {
    peek: (ahead = 0) => tokens[at + ahead],
    next() {
      const token = tokens[at++];
      if (token === undefined) throw new NotMathematics('ends early');
      return token;
    },
    position: () => at,
    rewind(position) {
      at = position;
    },
    isSign: (...texts) => {
      const token = tokens[at];
      return token?.kind === 'sign' && texts.includes(token.text);
    },
    isCommand: (...names) => {
      const token = tokens[at];
      return token?.kind === 'command' && names.includes(token.text);
    },
    expectSign(text) {
      const token = parser.next();
      if (token.kind !== 'sign' || token.text !== text) throw new NotMathematics(`no ${text}`);
    },
    relation: () => deeper(() => parseRelation(parser)),
    expression: () => deeper(() => parseSetOperation(parser)),
    factor: () => deeper(() => parsePower(parser)),
    primary: () => deeper(() => parsePrimary(parser)),
    argument: () => deeper(() => parseArgument(parser)),
  };
  return parser;
}

function relationAt(parser: MathParser): Relation | undefined {
  const token = parser.peek();
  if (token === undefined || token.kind === 'number' || token.kind === 'word') return undefined;
  return Object.hasOwn(relationNames, token.text) ? relationNames[token.text] : undefined;
}

function parseRelation(parser: MathParser): Expression {
  const sides = [parser.expression()];
  const relations: Relation[] = [];
  for (let relation = relationAt(parser); relation; relation = relationAt(parser)) {
    parser.next();
    relations.push(relation);
    sides.push(parser.expression());
  }
  const [only] = sides;
  return relations.length === 0 && only ? only : { kind: 'relation', relations, sides };
}

function parseSetOperation(parser: MathParser): Expression {
  let left = parseSum(parser);
  for (;;) {
    const operation = parser.isCommand('cup')
      ? '∪'
      : parser.isCommand('cap')
        ? '∩'
        : parser.isCommand('setminus', 'backslash')
          ? '∖'
          : undefined;
    if (operation === undefined) return left;
    parser.next();
    left = { kind: 'setOperation', operation, left, right: parseSum(parser) };
  }
}

function parseSum(parser: MathParser): Expression {
  const none: Expression = { kind: 'number', value: 0, text: '0', isDecimal: false };
  let terms: Expression[] = [];
  if (parser.isCommand('pm', 'mp')) {
    parser.next();
    return { kind: 'plusMinus', left: none, right: parseProduct(parser) };
  }
  terms.push(parseSigned(parser));
  for (;;) {
    if (parser.isSign('+')) {
      parser.next();
      terms.push(parseProduct(parser));
    } else if (parser.isSign('-')) {
      parser.next();
      terms.push({ kind: 'negate', of: parseProduct(parser) });
    } else if (parser.isCommand('pm', 'mp')) {
      parser.next();
      const left = sumOf(terms);
      terms = [{ kind: 'plusMinus', left, right: parseProduct(parser) }];
    } else return sumOf(terms);
  }
}

function sumOf(terms: readonly Expression[]): Expression {
  const [only] = terms;
  return terms.length === 1 && only ? only : { kind: 'sum', terms };
}

function parseSigned(parser: MathParser): Expression {
  let isNegative = false;
  while (parser.isSign('+', '-')) {
    if (parser.next().text === '-') isNegative = !isNegative;
  }
  const product = parseProduct(parser);
  return isNegative ? { kind: 'negate', of: product } : product;
}

function parseProduct(parser: MathParser): Expression {
  let left = parser.factor();
  for (;;) {
    if (parser.isSign('*') || parser.isCommand('times', 'cdot', 'ast')) {
      parser.next();
      left = product(left, parseSignedFactor(parser));
    } else if (parser.isSign('/', ':') || parser.isCommand('div')) {
      parser.next();
      left = { kind: 'quotient', above: left, below: parseSignedFactor(parser) };
    } else if (startsFactor(parser)) {
      const token = parser.peek();
      const position = parser.position();
      const right = parser.factor();
      const isMixed = mixedNumber(left, right, parser);
      if (isMixed) left = isMixed;
      else if (token?.kind === 'number' && left.kind === 'number') {
        parser.rewind(position);
        throw new NotMathematics('two numbers without an operator');
      } else left = product(left, right);
    } else return left;
  }
}

function product(left: Expression, right: Expression): Expression {
  const factors = left.kind === 'product' ? [...left.factors, right] : [left, right];
  return { kind: 'product', factors };
}

function parseSignedFactor(parser: MathParser): Expression {
  if (!parser.isSign('-', '+')) return parser.factor();
  const isNegative = parser.next().text === '-';
  const factor = parseSignedFactor(parser);
  return isNegative ? { kind: 'negate', of: factor } : factor;
}

/** `2\frac{1}{2}` and `2 1/2` are 2.5. */
function mixedNumber(
  left: Expression,
  right: Expression,
  parser: MathParser,
): Expression | undefined {
  const isWhole = (one: Expression): boolean => one.kind === 'number' && !one.isDecimal;
  if (!isWhole(left)) return undefined;
  if (right.kind === 'quotient' && isWhole(right.above) && isWhole(right.below)) {
    return { kind: 'sum', terms: [left, right] };
  }
  const below = parser.peek(1);
  if (isWhole(right) && parser.isSign('/') && below?.kind === 'number') {
    parser.next();
    parser.next();
    const value = Number(below.text);
    const denominator: Expression = { kind: 'number', value, text: below.text, isDecimal: false };
    return { kind: 'sum', terms: [left, { kind: 'quotient', above: right, below: denominator }] };
  }
  return undefined;
}

const closing: ReadonlySet<string> = new Set([
  'cup',
  'cap',
  'setminus',
  'backslash',
  'pm',
  'mp',
  'times',
  'cdot',
  'ast',
  'div',
  '}',
  'end',
  'rangle',
  'rvert',
  'rVert',
  'rfloor',
  'rceil',
  '\\',
  'to',
  'mid',
  'circ',
  '|',
]);

function startsFactor(parser: MathParser): boolean {
  const token = parser.peek();
  if (token === undefined) return false;
  if (token.kind === 'sign') return token.text === '(' || token.text === '{' || token.text === '[';
  if (token.kind === 'command') {
    return !closing.has(token.text) && !Object.hasOwn(relationNames, token.text);
  }
  return true;
}

function parsePower(parser: MathParser): Expression {
  let base = parsePostfix(parser, parser.primary());
  if (parser.isSign('^', '**')) {
    parser.next();
    const exponent = parseExponent(parser);
    base = parsePostfix(parser, { kind: 'power', base, exponent });
  }
  return base;
}

function parseExponent(parser: MathParser): Expression {
  if (parser.isSign('-', '+')) {
    const isNegative = parser.next().text === '-';
    const of = parseExponent(parser);
    return isNegative ? { kind: 'negate', of } : of;
  }
  const base = parser.argument();
  if (!parser.isSign('^', '**')) return base;
  parser.next();
  return { kind: 'power', base, exponent: parseExponent(parser) };
}

function parsePostfix(parser: MathParser, start: Expression): Expression {
  let value = start;
  for (;;) {
    if (parser.isSign('!')) value = call('factorial', parser, value);
    else if (parser.isSign('%')) value = call('percent', parser, value);
    else if (parser.isSign('^') && parser.peek(1)?.text === 'circ') {
      parser.next();
      value = call('degrees', parser, value);
    } else return value;
  }
}

function call(name: string, parser: MathParser, of: Expression): Expression {
  parser.next();
  return { kind: 'call', name, args: [of] };
}
