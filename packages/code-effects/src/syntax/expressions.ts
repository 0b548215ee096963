/** From Lezer's concrete nodes to expressions. */
import type { SyntaxNode } from '@lezer/common';
import type { Argument, Clause, Expression, Parameter } from './ast.ts';
import { readNumber, readText, unescapeText } from './literals.ts';
import { childrenOf, type Source, splitAt } from './source.ts';

const comparisons = new Set(['<', '>', '<=', '>=', '==', '!=', 'in', 'not in', 'is', 'is not']);

/** Several expressions between commas are a tuple, as are one and a comma. */
export function readExpressions(source: Source, nodes: readonly SyntaxNode[]): Expression {
  const parts = splitAt(nodes, ',').map((part) => readPart(source, part));
  const [first] = parts;
  const hasComma = nodes.some(({ name }) => name === ',');
  if (first !== undefined && !hasComma) return first;
  const line = nodes[0] === undefined ? 1 : source.lineOf(nodes[0]);
  return { kind: 'list', items: parts, isTuple: true, line };
}

/** One item of a list: an expression, maybe starred. */
function readPart(source: Source, nodes: readonly SyntaxNode[]): Expression {
  const [first, second] = nodes;
  if (first === undefined) return { kind: 'opaque', parts: [], line: 1 };
  if (first.name === '*' && second !== undefined) {
    const operand = readExpression(source, second);
    return { kind: 'star', operand, line: source.lineOf(first) };
  }
  if (nodes.some(({ name }) => name === ':')) return readSlice(source, nodes);
  return readExpression(source, first);
}

function readSlice(source: Source, nodes: readonly SyntaxNode[]): Expression {
  const sides: (Expression | undefined)[] = [undefined];
  for (const node of nodes) {
    if (node.name === ':') sides.push(undefined);
    else sides[sides.length - 1] = readExpression(source, node);
  }
  const [lower, upper, step] = sides;
  const line = nodes[0] === undefined ? 1 : source.lineOf(nodes[0]);
  return {
    kind: 'slice',
    line,
    ...(lower && { lower }),
    ...(upper && { upper }),
    ...(step && { step }),
  };
}

export function readExpression(source: Source, node: SyntaxNode): Expression {
  const line = source.lineOf(node);
  const children = childrenOf(node);
  const read = (child: SyntaxNode): Expression => readExpression(source, child);
  const opaque = (): Expression => ({ kind: 'opaque', parts: children.map(read), line });
  switch (node.name) {
    case 'VariableName':
      return { kind: 'name', name: source.of(node), line };
    case 'Number':
      return { kind: 'number', ...readNumber(source.of(node)), line };
    case 'String':
      return { kind: 'text', value: readText(source.of(node)), line };
    case 'FormatString':
      return readFormat(source, node);
    case 'ContinuedString':
      return { kind: 'format', parts: children.map(read), line };
    case 'Boolean':
      return { kind: 'boolean', value: source.of(node) === 'True', line };
    case 'None':
      return { kind: 'none', line };
    case 'Ellipsis':
      return { kind: 'ellipsis', line };
    case 'ParenthesizedExpression':
      return children[1] === undefined ? opaque() : read(children[1]);
    case 'TupleExpression':
    case 'ArrayExpression':
    case 'SetExpression': {
      const parts = splitAt(children.slice(1, -1), ',');
      const items = parts.map((part) => readPart(source, part));
      return { kind: 'list', items, isTuple: node.name === 'TupleExpression', line };
    }
    case 'DictionaryExpression':
      return readDictionary(source, node);
    case 'UnaryExpression': {
      const [operator, operand] = children;
      if (operator === undefined || operand === undefined) return opaque();
      return { kind: 'unary', operator: source.of(operator), operand: read(operand), line };
    }
    case 'BinaryExpression':
      return readBinary(source, node);
    case 'ConditionalExpression': {
      const [value, , test, , otherwise] = children;
      if (value === undefined || test === undefined || otherwise === undefined) return opaque();
      const parts = { value: read(value), test: read(test), otherwise: read(otherwise) };
      return { kind: 'conditional', ...parts, line };
    }
    case 'LambdaExpression': {
      const list = children.find(({ name }) => name === 'ParamList');
      const body = children.at(-1);
      if (body === undefined) return opaque();
      const parameters = list === undefined ? [] : readParameters(source, childrenOf(list));
      return { kind: 'lambda', parameters, body: read(body), line };
    }
    case 'CallExpression': {
      const [callee, list] = children;
      if (callee === undefined || list === undefined) return opaque();
      return {
        kind: 'call',
        callee: read(callee),
        arguments: readArguments(source, list),
        line,
      };
    }
    case 'MemberExpression':
      return readMember(source, node);
    case 'NamedExpression': {
      const [name, , value] = children;
      if (name === undefined || value === undefined) return opaque();
      return { kind: 'walrus', name: source.of(name), value: read(value), line };
    }
    case 'ArrayComprehensionExpression':
    case 'ComprehensionExpression':
    case 'SetComprehensionExpression':
      return readComprehension(source, node, children.slice(1, -1), true);
    case 'DictionaryComprehensionExpression':
      return readComprehension(source, node, children.slice(1, -1), false);
    default:
      return opaque();
  }
}

function readFormat(source: Source, node: SyntaxNode): Expression {
  const parts: Expression[] = [];
  const line = source.lineOf(node);
  const literal = source.of(node);
  const opening = /^[a-zA-Z]*('''|"""|'|")/.exec(literal)?.[0] ?? '';
  const quote = opening.replace(/^[a-zA-Z]*/, '');
  const isRaw = /r/i.test(opening);
  let at = node.from + opening.length;
  const keep = (end: number): void => {
    const text = source.text.slice(at, end).replaceAll('{{', '{').replaceAll('}}', '}');
    if (text !== '') parts.push({ kind: 'text', value: isRaw ? text : unescapeText(text), line });
  };
  for (const child of childrenOf(node)) {
    if (child.name !== 'FormatReplacement') continue;
    keep(child.from);
    at = child.to;
    const inner = childrenOf(child);
    const value = inner[1];
    const isPlain = !inner.some(({ name }) => /^Format(Spec|Conversion)$/.test(name));
    if (value !== undefined) {
      const read = readExpression(source, value);
      // With a format the text is not known, what is in it is evaluated anyway.
      parts.push(isPlain ? read : { kind: 'opaque', parts: [read], line });
    }
  }
  keep(node.to - quote.length);
  return { kind: 'format', parts, line };
}

function readDictionary(source: Source, node: SyntaxNode): Expression {
  const entries: (readonly [Expression, Expression])[] = [];
  let isOpen = false;
  for (const part of splitAt(childrenOf(node).slice(1, -1), ',')) {
    const [key, , value] = part;
    if (key === undefined || value === undefined || part.length !== 3) isOpen = true;
    else entries.push([readExpression(source, key), readExpression(source, value)]);
  }
  return { kind: 'dictionary', entries, isOpen, line: source.lineOf(node) };
}

function readBinary(source: Source, node: SyntaxNode): Expression {
  const children = childrenOf(node);
  const [first, last] = [children[0], children.at(-1)];
  const line = source.lineOf(node);
  if (first === undefined || last === undefined || children.length < 3) {
    const parts = children.map((child) => readExpression(source, child));
    return { kind: 'opaque', parts, line };
  }
  const operator = children
    .slice(1, -1)
    .map((child) => source.of(child))
    .join(' ')
    .replace(/\s+/g, ' ');
  const [left, right] = [readExpression(source, first), readExpression(source, last)];
  if (!comparisons.has(operator)) return { kind: 'binary', operator, left, right, line };
  // `a < b < c` is nested to the left; `(a < b) < c` stands in a node of its own.
  if (first.name === 'BinaryExpression' && left.kind === 'comparison') {
    return {
      kind: 'comparison',
      operands: [...left.operands, right],
      operators: [...left.operators, operator],
      line,
    };
  }
  return { kind: 'comparison', operands: [left, right], operators: [operator], line };
}

function readMember(source: Source, node: SyntaxNode): Expression {
  const [object, separator, ...rest] = childrenOf(node);
  const line = source.lineOf(node);
  if (object === undefined || separator === undefined) return { kind: 'opaque', parts: [], line };
  const inner = readExpression(source, object);
  if (separator.name === '.') {
    const name = rest[0] === undefined ? '' : source.of(rest[0]);
    return { kind: 'attribute', object: inner, name, line };
  }
  const nodes = rest.slice(0, -1);
  const isTuple = nodes.some(({ name }) => name === ',');
  const indices = splitAt(nodes, ',').map((part) => readPart(source, part));
  return { kind: 'subscript', object: inner, indices, isTuple, line };
}

/** `(a, *b, c=1, **d)`, or a comprehension without parentheses of its own. */
function readArguments(source: Source, list: SyntaxNode): readonly Argument[] {
  const children = childrenOf(list).slice(1, -1);
  if (children.some(({ name }) => name === 'for')) {
    return [{ stars: 0, value: readComprehension(source, list, children, true) }];
  }
  return splitAt(children, ',').flatMap((part): Argument[] => {
    const [first, second, third] = part;
    if (first === undefined) return [];
    if ((first.name === '*' || first.name === '**') && second !== undefined) {
      const stars = first.name === '*' ? 1 : 2;
      return [{ stars, value: readExpression(source, second) }];
    }
    if (second?.name === 'AssignOp' && third !== undefined) {
      return [{ stars: 0, name: source.of(first), value: readExpression(source, third) }];
    }
    return [{ stars: 0, value: readExpression(source, first) }];
  });
}

export function readParameters(source: Source, nodes: readonly SyntaxNode[]): Parameter[] {
  const inner = nodes.filter(({ name }) => name !== '(' && name !== ')' && name !== 'TypeDef');
  return splitAt(inner, ',').flatMap((part): Parameter[] => {
    const stars = part[0]?.name === '*' ? 1 : part[0]?.name === '**' ? 2 : 0;
    const name = part.find((node) => node.name === 'VariableName');
    if (name === undefined) return [];
    const assigned = part.findIndex((node) => node.name === 'AssignOp');
    const fallback = assigned < 0 ? undefined : part[assigned + 1];
    return [
      {
        name: source.of(name),
        stars,
        ...(fallback && { fallback: readExpression(source, fallback) }),
      },
    ];
  });
}

function readComprehension(
  source: Source,
  node: SyntaxNode,
  nodes: readonly SyntaxNode[],
  isSequence: boolean,
): Expression {
  const line = source.lineOf(node);
  const start = nodes.findIndex(({ name }) => name === 'for' || name === 'async');
  const element = nodes[0];
  if (start < 1 || element === undefined) return { kind: 'opaque', parts: [], line };
  const clauses: Clause[] = [];
  let at = start;
  while (at < nodes.length) {
    if (nodes[at]?.name === 'async') at++;
    const inAt = nodes.findIndex(({ name }, index) => index > at && name === 'in');
    const iterable = nodes[inAt + 1];
    if (inAt < 0 || iterable === undefined) break;
    const target = readExpressions(source, nodes.slice(at + 1, inAt));
    const conditions: Expression[] = [];
    at = inAt + 2;
    while (nodes[at]?.name === 'if') {
      const condition = nodes[at + 1];
      if (condition !== undefined) conditions.push(readExpression(source, condition));
      at += 2;
    }
    clauses.push({ target, iterable: readExpression(source, iterable), conditions });
  }
  return {
    kind: 'comprehension',
    element: readExpression(source, element),
    clauses,
    isSequence,
    line,
  };
}
