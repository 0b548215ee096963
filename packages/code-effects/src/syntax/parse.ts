/**
 * Python source to statements, with Lezer's grammar: plain JavaScript, synchronous and without set-up
 * in Node and in browsers, as a reward has to be. Code with an error does not compile in Python either
 * and has no statements here.
 */
import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@lezer/python';
import {
  type GiveUpReason,
  MAX_CHARACTERS,
  MAX_LINE,
  MAX_NESTING,
  MAX_NODES,
} from '../interpreter/budget.ts';
import type { Expression, Handler, ImportedName, Statement } from './ast.ts';
import { readExpression, readExpressions, readParameters } from './expressions.ts';
import { childrenOf, Source, splitAt } from './source.ts';

export interface ParsedCode {
  readonly statements: readonly Statement[];
  /** Line of the first error, from 1; undefined for code that parses. */
  readonly errorLine?: number;
  /** Why the code was not read; it has neither statements nor an error then. */
  readonly gaveUp?: GiveUpReason;
}

export function parsePython(code: string): ParsedCode {
  if (code.length > MAX_CHARACTERS) return { statements: [], gaveUp: 'code' };
  const source = new Source(code.replaceAll('\r\n', '\n'));
  if (bracketDepth(source.text) > MAX_NESTING) return { statements: [], gaveUp: 'nesting' };
  const tree = parseBounded(source.text);
  if (tree === undefined) return { statements: [], gaveUp: 'code' };
  if (typeof tree === 'number') {
    // Beyond some thousand operands in a row the parser sees errors where there are none.
    if (source.lineLengthAt(tree) > MAX_LINE) return { statements: [], gaveUp: 'code' };
    return { statements: [], errorLine: source.lineAt(tree) };
  }
  let errorAt: number | undefined;
  let gaveUp: GiveUpReason | undefined;
  let [nodes, depth] = [0, 0];
  tree.iterate({
    enter: (node) => {
      if (++nodes > MAX_NODES) gaveUp ??= 'code';
      if (++depth > MAX_NESTING) gaveUp ??= 'nesting';
      if (node.type.isError) errorAt ??= node.from;
      if (errorAt === undefined && (node.name === 'Script' || node.name === 'Body')) {
        errorAt = misindented(source, node.node);
      }
      // To the end even behind an error: in code too deep for it the parser sees errors.
      if (gaveUp === undefined) return true;
      depth--;
      return false;
    },
    leave: () => {
      depth--;
    },
  });
  if (gaveUp !== undefined) return { statements: [], gaveUp };
  if (errorAt !== undefined) return { statements: [], errorLine: source.lineAt(errorAt) };
  return { statements: readStatements(source, childrenOf(tree.topNode)) };
}

/** How deep brackets go at most, those in texts and comments counted too: the parser is slow there. */
function bracketDepth(text: string): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '(' || character === '[' || character === '{') {
      if (++depth > most) most = depth;
    } else if (character === ')' || character === ']' || character === '}') {
      if (depth > 0) depth--;
    }
  }
  return most;
}

/** Stops at the first error, where repairing it takes long and helps nobody. */
const strict = parser.configure({ strict: true });
/** Moves of the parser for a character; code that parses takes at most one. */
const MOVES_PER_CHARACTER = 2;

/** The tree, the place of the first error, or neither where it takes too long. */
function parseBounded(text: string): Tree | number | undefined {
  const parse = strict.startParse(text);
  try {
    for (let move = MOVES_PER_CHARACTER * text.length + 100; move > 0; move--) {
      const tree = parse.advance();
      if (tree !== null) return tree;
    }
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return Math.min(parse.parsedPos, text.length);
    throw error;
  }
}

/** Where a statement of a block is indented otherwise than the first, which Lezer lets pass. */
function misindented(source: Source, block: SyntaxNode): number | undefined {
  let expected = block.name === 'Script' ? '' : undefined;
  for (const statement of childrenOf(block)) {
    const before = source.text.slice(source.lineStartOf(statement), statement.from);
    // A statement behind a colon or a semicolon has no indentation of its own.
    if (before.trim() !== '' || statement.name === ':' || statement.from === statement.to) continue;
    expected ??= before;
    if (before !== expected) return statement.from;
  }
  return undefined;
}

function readStatements(source: Source, nodes: readonly SyntaxNode[]): readonly Statement[] {
  return nodes.flatMap((node): readonly Statement[] => {
    if (node.name === 'StatementGroup') return readStatements(source, childrenOf(node));
    if (node.name === 'DecoratedStatement') {
      const parts = childrenOf(node);
      const decorators = parts
        .filter(({ name }) => name === 'Decorator')
        .map((part) => readDecorator(source, childrenOf(part)));
      const rest = parts.filter(({ name }) => name !== 'Decorator');
      return readStatements(source, rest).map((statement) => ({ ...statement, decorators }));
    }
    const statement = readStatement(source, node);
    return statement === undefined ? [] : [statement];
  });
}

/** `@a.b` and `@a.b(c)`: names behind one another, perhaps called. */
function readDecorator(source: Source, parts: readonly SyntaxNode[]): Expression {
  const names = parts.filter(({ name }) => name === 'VariableName' || name === 'PropertyName');
  const line = source.lineOf(parts[0] as SyntaxNode);
  const [first, ...rest] = names.map((name) => source.of(name));
  const named = rest.reduce<Expression>(
    (object, name) => ({ kind: 'attribute', object, name, line }),
    { kind: 'name', name: first ?? '', line },
  );
  const isCalled = parts.some(({ name }) => name === 'ArgList');
  // Nothing is known of its arguments: no decorator with arguments is followed.
  return isCalled ? { kind: 'opaque', parts: [named], line } : named;
}

function bodyOf(source: Source, body: SyntaxNode | undefined): readonly Statement[] {
  if (body === undefined) return [];
  return readStatements(
    source,
    childrenOf(body).filter(({ name }) => name !== ':'),
  );
}

function readStatement(source: Source, node: SyntaxNode): Statement | undefined {
  const at = { line: source.lineOf(node), endLine: source.endLineOf(node) };
  const children = childrenOf(node);
  const rest = children.slice(1);
  switch (node.name) {
    case 'ExpressionStatement':
      return { kind: 'expression', value: readExpressions(source, children), ...at };
    case 'AssignStatement':
      return readAssign(source, children, at);
    case 'UpdateStatement': {
      const split = children.findIndex(({ name }) => name === 'UpdateOp');
      const operator = children[split];
      if (operator === undefined) return undefined;
      return {
        kind: 'update',
        target: readExpressions(source, children.slice(0, split)),
        operator: source.of(operator).slice(0, -1),
        value: readExpressions(source, children.slice(split + 1)),
        ...at,
      };
    }
    case 'IfStatement':
      return readIf(source, children, at);
    case 'ForStatement': {
      const list = rest[0]?.name === 'for' ? rest.slice(1) : rest;
      const inAt = list.findIndex(({ name }) => name === 'in');
      const bodyAt = list.findIndex(({ name }) => name === 'Body');
      return {
        kind: 'for',
        target: readExpressions(source, list.slice(0, inAt)),
        iterable: readExpressions(source, list.slice(inAt + 1, bodyAt)),
        body: bodyOf(source, list[bodyAt]),
        otherwise: bodyOf(
          source,
          list.slice(bodyAt + 1).find(({ name }) => name === 'Body'),
        ),
        ...at,
      };
    }
    case 'WhileStatement': {
      const bodies = rest.filter(({ name }) => name === 'Body');
      const test = rest[0];
      if (test === undefined) return undefined;
      return {
        kind: 'while',
        test: readExpression(source, test),
        body: bodyOf(source, bodies[0]),
        otherwise: bodyOf(source, bodies[1]),
        ...at,
      };
    }
    case 'FunctionDefinition': {
      const name = children.find((child) => child.name === 'VariableName');
      const list = children.find((child) => child.name === 'ParamList');
      if (name === undefined || list === undefined) return undefined;
      return {
        kind: 'function',
        name: source.of(name),
        parameters: readParameters(source, childrenOf(list)),
        body: bodyOf(source, children.at(-1)),
        ...at,
      };
    }
    case 'ClassDefinition': {
      const name = children.find((child) => child.name === 'VariableName');
      if (name === undefined) return undefined;
      const body = bodyOf(source, children.at(-1));
      return { kind: 'class', name: source.of(name), body, ...at };
    }
    case 'ReturnStatement':
    case 'RaiseStatement': {
      const kind = node.name === 'ReturnStatement' ? 'return' : 'raise';
      const from = rest.findIndex(({ name }) => name === 'from');
      const value = from < 0 ? rest : rest.slice(0, from);
      if (value.length === 0) return { kind, ...at };
      return { kind, value: readExpressions(source, value), ...at };
    }
    case 'BreakStatement':
      return { kind: 'break', ...at };
    case 'ContinueStatement':
      return { kind: 'continue', ...at };
    case 'ScopeStatement': {
      const names = rest.filter(({ name }) => name === 'VariableName');
      return { kind: 'global', names: names.map((name) => source.of(name)), ...at };
    }
    case 'ImportStatement':
      return { kind: 'import', names: readImport(source, node), ...at };
    case 'WithStatement':
      return readWith(source, children, at);
    case 'TryStatement':
      return readTry(source, children, at);
    case 'DeleteStatement': {
      const targets = splitAt(rest, ',').map((part) => readExpressions(source, part));
      return { kind: 'delete', targets, ...at };
    }
    case 'AssertStatement':
      return rest[0] && { kind: 'assert', test: readExpression(source, rest[0]), ...at };
    case 'MatchStatement': {
      const body = children.find(({ name }) => name === 'MatchBody');
      const clauses = body === undefined ? [] : childrenOf(body);
      const bodies = clauses
        .filter(({ name }) => name === 'MatchClause')
        .map((clause) => bodyOf(source, childrenOf(clause).at(-1)));
      return { kind: 'match', bodies, ...at };
    }
    default:
      return { kind: 'pass', ...at };
  }
}

type At = Pick<Statement, 'line' | 'endLine'>;

function readAssign(
  source: Source,
  children: readonly SyntaxNode[],
  at: At,
): Statement | undefined {
  const parts = splitAt(
    children.filter(({ name }) => name !== 'TypeDef'),
    'AssignOp',
  ).map((part) => readExpressions(source, part));
  const value = parts.pop();
  if (value === undefined) return undefined;
  // `x: int` alone binds nothing.
  if (parts.length === 0) return { kind: 'pass', ...at };
  return { kind: 'assign', targets: parts, value, ...at };
}

function readIf(source: Source, children: readonly SyntaxNode[], at: At): Statement | undefined {
  const [keyword, test, body, ...rest] = children;
  if (keyword === undefined || test === undefined) return undefined;
  let otherwise: readonly Statement[] = [];
  if (rest[0]?.name === 'elif') {
    const nested = readIf(source, rest, { ...at, line: source.lineOf(rest[0]) });
    otherwise = nested === undefined ? [] : [nested];
  } else if (rest[0]?.name === 'else') otherwise = bodyOf(source, rest[1]);
  return {
    kind: 'if',
    test: readExpression(source, test),
    body: bodyOf(source, body),
    otherwise,
    ...at,
  };
}

function readWith(source: Source, children: readonly SyntaxNode[], at: At): Statement {
  const items: { value: Expression; target?: Expression }[] = [];
  const inner = children.filter(({ name }) => !['with', 'async', '(', ')', 'Body'].includes(name));
  for (const part of splitAt(inner, ',')) {
    const [value, as, target] = part;
    if (value === undefined) continue;
    const read = readExpression(source, value);
    if (as?.name === 'as' && target !== undefined) {
      items.push({ value: read, target: readExpression(source, target) });
    } else items.push({ value: read });
  }
  return { kind: 'with', items, body: bodyOf(source, children.at(-1)), ...at };
}

function readTry(source: Source, children: readonly SyntaxNode[], at: At): Statement {
  let body: readonly Statement[] = [];
  let otherwise: readonly Statement[] = [];
  let last: readonly Statement[] = [];
  const handlers: Handler[] = [];
  let head: SyntaxNode[] = [];
  for (const child of children) {
    if (child.name !== 'Body') {
      head.push(child);
      continue;
    }
    const own = bodyOf(source, child);
    const keyword = head[0]?.name;
    if (keyword === 'try') body = own;
    else if (keyword === 'else') otherwise = own;
    else if (keyword === 'finally') last = own;
    else {
      const as = head.findIndex(({ name }) => name === 'as');
      const named = as < 0 ? undefined : head[as + 1];
      const types = head.slice(1, as < 0 ? undefined : as).filter(({ name }) => name !== '*');
      handlers.push({
        body: own,
        ...(types.length > 0 && { types: readExpressions(source, types) }),
        ...(named && { name: source.of(named) }),
      });
    }
    head = [];
  }
  return { kind: 'try', body, handlers, otherwise, last, ...at };
}

/** `import a.b as c`, `from a import b as c, d`, `from a import *`. */
function readImport(source: Source, node: SyntaxNode): readonly ImportedName[] {
  const words = childrenOf(node)
    .map((child) => source.of(child))
    .filter((word) => word !== '(' && word !== ')');
  const fromAt = words.indexOf('from');
  const importAt = words.indexOf('import');
  const prefix = fromAt < 0 ? '' : words.slice(fromAt + 1, importAt).join('');
  const names: ImportedName[] = [];
  let part: string[] = [];
  for (const word of [...words.slice(importAt + 1), ',']) {
    if (word !== ',') {
      part.push(word);
      continue;
    }
    const as = part.indexOf('as');
    const path = part.slice(0, as < 0 ? undefined : as).join('');
    const alias = as < 0 ? undefined : part[as + 1];
    if (path !== '') {
      // `import PIL.Image` binds PIL.
      const top = path.split('.')[0] ?? path;
      if (prefix !== '') names.push({ path: `${prefix}.${path}`, name: alias ?? path });
      else names.push({ path: alias === undefined ? top : path, name: alias ?? top });
    }
    part = [];
  }
  return names;
}
