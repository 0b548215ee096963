/**
 * Python source to statements, with Lezer's grammar: plain JavaScript, synchronous and without set-up
 * in Node and in browsers, as a reward has to be. It repairs errors instead of stopping; code that
 * needed a repair does not compile in Python either and has no statements here.
 */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import type { Expression, Handler, ImportedName, Statement } from './ast.ts';
import { readExpression, readExpressions, readParameters } from './expressions.ts';
import { childrenOf, Source, splitAt } from './source.ts';

export interface ParsedCode {
  readonly statements: readonly Statement[];
  /** Line of the first error, from 1; undefined for code that parses. */
  readonly errorLine?: number;
}

export function parsePython(code: string): ParsedCode {
  const source = new Source(code.replaceAll('\r\n', '\n'));
  const tree = parser.parse(source.text);
  let errorAt: number | undefined;
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) errorAt ??= node.from;
      if (node.name === 'Script' || node.name === 'Body')
        errorAt ??= misindented(source, node.node);
      return errorAt === undefined;
    },
  });
  if (errorAt !== undefined) return { statements: [], errorLine: source.lineAt(errorAt) };
  return { statements: readStatements(source, childrenOf(tree.topNode)) };
}

/** Where a statement of a block is indented otherwise than the first, which Lezer lets pass. */
function misindented(source: Source, block: SyntaxNode): number | undefined {
  let expected = block.name === 'Script' ? '' : undefined;
  for (const statement of childrenOf(block)) {
    const lineStart = source.text.lastIndexOf('\n', statement.from - 1) + 1;
    const before = source.text.slice(lineStart, statement.from);
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
      return readStatements(
        source,
        childrenOf(node).filter(({ name }) => name !== 'Decorator'),
      );
    }
    const statement = readStatement(source, node);
    return statement === undefined ? [] : [statement];
  });
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
      return name === undefined ? undefined : { kind: 'class', name: source.of(name), ...at };
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
