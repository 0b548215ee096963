/** The parts of an expression that stand alone: numbers, brackets, commands. */
import { type MathParser, numberOf, parseItems } from './cursor.ts';
import { parseEnvironment } from './environments.ts';
import type { Expression } from './expression.ts';
import { parseFunction } from './functions.ts';
import { fontCommands, functionNames, greek, textCommands } from './names.ts';
import { NotMathematics } from './tokens.ts';
import { parseWord, withSubscript } from './words.ts';

export function parsePrimary(parser: MathParser): Expression {
  const token = parser.next();
  if (token.kind === 'number') return numberOf(token.text);
  if (token.kind === 'word') return parseWord(parser, token.text);
  if (token.kind === 'command') return parseCommand(parser, token.text);
  if (token.text === '(' || token.text === '[') return parseBracket(parser, token.text);
  if (token.text === '{') return parseBraces(parser);
  if (token.text === '|') return parseBars(parser, () => parser.isSign('|'));
  throw new NotMathematics(`unexpected ${token.text}`);
}

/** `{…}`, or one thing without braces. */
export function parseArgument(parser: MathParser): Expression {
  if (!parser.isSign('{')) return parser.primary();
  parser.next();
  const inner = parser.relation();
  parser.expectSign('}');
  return inner;
}

/** After `(` or `[`: a group of one, or a tuple, list or interval. */
function parseBracket(parser: MathParser, open: '(' | '['): Expression {
  const items = parseItems(parser);
  const { text: close, kind } = parser.next();
  if (kind !== 'sign' || (close !== ')' && close !== ']')) throw new NotMathematics(`no ${open}`);
  const [only] = items;
  if (items.length === 1 && only) {
    if ((open === '(') !== (close === ')')) throw new NotMathematics('half an interval');
    return only;
  }
  return { kind: 'bracketed', open, close, items };
}

/** `{…}`: a group of LaTeX, or a set written without backslashes. */
function parseBraces(parser: MathParser): Expression {
  if (parser.isSign('}')) {
    parser.next();
    return { kind: 'set', items: [] };
  }
  const items = parseItems(parser);
  parser.expectSign('}');
  const [only] = items;
  return items.length === 1 && only ? only : { kind: 'set', items };
}

function parseBars(parser: MathParser, isEnd: () => boolean): Expression {
  const inner = parser.expression();
  if (!isEnd()) throw new NotMathematics('no closing bar');
  parser.next();
  return { kind: 'call', name: 'abs', args: [inner] };
}

function parseCommand(parser: MathParser, name: string): Expression {
  if (name === 'frac') {
    const above = parser.argument();
    return { kind: 'quotient', above, below: parser.argument() };
  }
  if (name === 'binom') {
    const args = [parser.argument(), parser.argument()];
    return { kind: 'call', name: 'binom', args };
  }
  if (name === 'pi') return { kind: 'constant', name: 'pi' };
  if (name === 'infty') return { kind: 'constant', name: 'infinity' };
  if (name === 'emptyset' || name === 'varnothing') return { kind: 'set', items: [] };
  if (Object.hasOwn(functionNames, name)) return parseFunction(parser, functionNames[name] ?? name);
  if (greek.has(name)) return withSubscript(parser, name);
  if (name === '{') return parseSet(parser);
  if (name === 'lvert' || name === 'vert') {
    return parseBars(parser, () => parser.isCommand('rvert', 'vert'));
  }
  if (name === '|' || name === 'lVert') {
    return parseBars(parser, () => parser.isCommand('|', 'rVert'));
  }
  if (name === 'lfloor' || name === 'lceil') return parseRounding(parser, name);
  if (name === 'mathbb') return { kind: 'numberSet', name: lettersInBraces(parser) };
  if (fontCommands.has(name)) return parser.argument();
  if (textCommands.has(name)) return { kind: 'text', text: lettersInBraces(parser) };
  if (name === 'sum' || name === 'prod') return parseSeries(parser, name);
  if (name === 'begin') return parseEnvironment(parser);
  if (name === 'imath' || name === 'jmath') return { kind: 'constant', name: 'i' };
  throw new NotMathematics(`unknown \\${name}`);
}

function parseSet(parser: MathParser): Expression {
  const items: Expression[] = [];
  while (!parser.isCommand('}')) {
    items.push(parser.relation());
    if (!parser.isSign(',', ';')) break;
    parser.next();
  }
  if (!parser.isCommand('}')) throw new NotMathematics('no \\}');
  parser.next();
  return { kind: 'set', items };
}

function parseRounding(parser: MathParser, name: 'lfloor' | 'lceil'): Expression {
  const inner = parser.expression();
  const end = name === 'lfloor' ? 'rfloor' : 'rceil';
  if (!parser.isCommand(end)) throw new NotMathematics(`no \\${end}`);
  parser.next();
  return { kind: 'call', name: name === 'lfloor' ? 'floor' : 'ceil', args: [inner] };
}

/** `\sum_{k=1}^{n} term` */
function parseSeries(parser: MathParser, name: 'sum' | 'prod'): Expression {
  parser.expectSign('_');
  const start = parser.argument();
  parser.expectSign('^');
  const to = parser.argument();
  if (start.kind !== 'relation' || start.sides.length !== 2) throw new NotMathematics('no index');
  const [index, from] = start.sides;
  if (index?.kind !== 'symbol' || from === undefined) throw new NotMathematics('no index');
  const factors = [parser.factor()];
  while (parser.peek()?.kind === 'word' || parser.isSign('(') || parser.isCommand('frac')) {
    factors.push(parser.factor());
  }
  const [only] = factors;
  const term: Expression = factors.length === 1 && only ? only : { kind: 'product', factors };
  const operation = name === 'sum' ? 'sum' : 'product';
  return { kind: 'series', operation, index: index.name, from, to, term };
}

/** The letters of `{…}`, as they stand: words, or a letter. */
function lettersInBraces(parser: MathParser): string {
  if (!parser.isSign('{')) return parser.next().text;
  parser.next();
  let text = '';
  for (let depth = 1; depth > 0; ) {
    const token = parser.next();
    if (token.kind === 'sign' && token.text === '{') depth++;
    if (token.kind === 'sign' && token.text === '}') depth--;
    if (depth > 0) text += `${token.hasSpaceBefore ? ' ' : ''}${token.text}`;
  }
  return text.trim();
}
