/** Formulas as a person writes them: highest powers first, no brackets or signs that can be avoided. */
import {
  ConstantNode,
  type FunctionNode,
  type MathNode,
  type OperatorNode,
  type ParenthesisNode,
  type SymbolNode,
} from 'mathjs';

/** How tightly the surroundings bind: sum 1, product 2, power 3. */
type Level = 0 | 1 | 2 | 3;

interface Signed {
  readonly isNegative: boolean;
  readonly node: MathNode;
}

export function writeFormula(node: MathNode): string {
  return write(node, 0);
}

function write(given: MathNode, level: Level): string {
  const node = unwrapped(given);
  const sum = termsOf(node);
  if (sum.length > 1 || sum[0]?.isNegative) return bracketed(writeSum(sum), level, 1);
  const { above, below } = factorsOf(node);
  if (above.length + below.length > 1) return bracketed(writeProduct(above, below), level, 2);
  return writeSingle(node, level);
}

function bracketed(text: string, level: Level, own: Level): string {
  return level > own || (level === own && own > 1) ? `(${text})` : text;
}

function unwrapped(node: MathNode): MathNode {
  return node.type === 'ParenthesisNode' ? unwrapped((node as ParenthesisNode).content) : node;
}

function operator(node: MathNode): { readonly fn: string; readonly args: readonly MathNode[] } {
  const { fn, args } = node as OperatorNode;
  return node.type === 'OperatorNode' ? { fn, args } : { fn: '', args: [] };
}

function termsOf(given: MathNode, isNegative = false): readonly Signed[] {
  const node = unwrapped(given);
  const { fn, args } = operator(node);
  const [a, b] = args;
  if (fn === 'add' && a && b) return [...termsOf(a, isNegative), ...termsOf(b, isNegative)];
  if (fn === 'subtract' && a && b) return [...termsOf(a, isNegative), ...termsOf(b, !isNegative)];
  if (fn === 'unaryMinus' && a) return termsOf(a, !isNegative);
  return [{ node, isNegative: signOf(node) ? !isNegative : isNegative }];
}

/** Whether a product begins with a negative number, whose sign the sum takes. */
function signOf(node: MathNode): boolean {
  const { above, below } = factorsOf(node);
  return [...above, ...below].filter(isNegativeFactor).length % 2 === 1;
}

function isNegativeFactor(node: MathNode): boolean {
  return operator(unwrapped(node)).fn === 'unaryMinus' || Number(constantOf(node)) < 0;
}

function constantOf(node: MathNode): unknown {
  const inner = unwrapped(node);
  return inner.type === 'ConstantNode' ? (inner as MathNode & { value: unknown }).value : undefined;
}

function writeSum(terms: readonly Signed[]): string {
  const sorted = terms.toSorted((a, b) => degree(b.node) - degree(a.node));
  // A sum that can begin with a plus does.
  const [first] = sorted;
  const isSameDegree = sorted.every(({ node }) => degree(node) === degree(first?.node ?? node));
  if (isSameDegree) sorted.sort((a, b) => Number(a.isNegative) - Number(b.isNegative));
  return sorted
    .map(({ node, isNegative }, index) => {
      const text = writeTerm(node);
      if (index === 0) return isNegative ? `-${text}` : text;
      return isNegative ? ` - ${text}` : ` + ${text}`;
    })
    .join('');
}

/** A term without the sign that the sum has taken. */
function writeTerm(node: MathNode): string {
  const { above, below } = factorsOf(node);
  const [tops, bottoms] = [above.map(withoutSign), below.map(withoutSign)];
  const [only] = tops;
  if (tops.length === 1 && bottoms.length === 0 && only !== undefined) return write(only, 1);
  return writeProduct(tops, bottoms);
}

function withoutSign(node: MathNode): MathNode {
  const inner = unwrapped(node);
  const { fn, args } = operator(inner);
  if (fn === 'unaryMinus' && args[0] !== undefined) return args[0];
  const value = Number(constantOf(inner));
  return value < 0 ? new ConstantNode(-value) : node;
}

function degree(given: MathNode): number {
  const node = unwrapped(given);
  if (node.type === 'SymbolNode')
    return ['pi', 'e', 'i'].includes((node as SymbolNode).name) ? 0 : 1;
  const { fn, args } = operator(node);
  const [a, b] = args;
  if (fn === 'pow' && a && b) return degree(a) * (Number(constantOf(b)) || 1);
  if (fn === 'multiply') return args.reduce((total, one) => total + degree(one), 0);
  if (fn === 'divide' && a && b) return degree(a) - degree(b);
  if (fn === 'unaryMinus' && a) return degree(a);
  if (fn === 'add' || fn === 'subtract') return Math.max(...args.map(degree));
  return node.type === 'FunctionNode'
    ? 0.5 * Math.max(0, ...(node as FunctionNode).args.map(degree))
    : 0;
}

interface Factors {
  readonly above: readonly MathNode[];
  readonly below: readonly MathNode[];
}

function factorsOf(given: MathNode): Factors {
  const node = unwrapped(given);
  const { fn, args } = operator(node);
  const [a, b] = args;
  if (fn === 'multiply' && a && b) {
    const [left, right] = [factorsOf(a), factorsOf(b)];
    return { above: [...left.above, ...right.above], below: [...left.below, ...right.below] };
  }
  if (fn === 'divide' && a && b) {
    const [left, right] = [factorsOf(a), factorsOf(b)];
    return { above: [...left.above, ...right.below], below: [...left.below, ...right.above] };
  }
  const exponent =
    b && operator(unwrapped(b)).fn === 'unaryMinus' ? operator(unwrapped(b)).args[0] : undefined;
  if (fn === 'pow' && a && exponent && Number(constantOf(exponent)) === 1)
    return { above: [], below: [a] };
  return { above: [node], below: [] };
}

function rank(node: MathNode): number {
  const inner = unwrapped(node);
  if (inner.type === 'ConstantNode') return 0;
  if (inner.type === 'FunctionNode')
    return (inner as FunctionNode).fn.toString() === 'sqrt' ? 1 : 4;
  if (termsOf(inner).length > 1) return 5;
  return degree(inner) === 0 ? 2 : 3;
}

function writeProduct(above: readonly MathNode[], below: readonly MathNode[]): string {
  const top = joined(above);
  if (below.length === 0) return top;
  const bottom = below.length === 1 && below[0] ? write(below[0], 2) : `(${joined(below)})`;
  return `${top === '' ? '1' : top}/${bottom}`;
}

function joined(factors: readonly MathNode[]): string {
  const shown = factors
    .filter((factor) => constantOf(factor) !== 1)
    .toSorted((a, b) => rank(a) - rank(b));
  let text = '';
  for (const factor of shown) {
    const next = write(factor, shown.length > 1 ? 2 : 1);
    const needsSign =
      (/[\d)]$/.test(text) && /^\d/.test(next)) ||
      /\^\w$/.test(text) ||
      // `xcos(x)` is read as a function of that name.
      (/[a-zπ]$/.test(text) && /^[a-z]{2,}\(/.test(next));
    text += needsSign ? `·${next}` : next;
  }
  return text;
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function writeSingle(node: MathNode, level: Level): string {
  const { fn, args } = operator(node);
  const [a, b] = args;
  if (fn === 'pow' && a && b) {
    const base = write(a, 3);
    const exponent = constantOf(b);
    const isPlain = Number.isInteger(exponent) && Number(exponent) >= 0;
    if (isPlain)
      return base + [...`${exponent}`].map((digit) => superscripts[Number(digit)]).join('');
    const text = write(b, 0);
    return /^\w$/.test(text) ? `${base}^${text}` : `${base}^(${text})`;
  }
  if (fn === 'factorial' && a) return `${write(a, 3)}!`;
  if (node.type === 'FunctionNode') return writeCall(node as FunctionNode);
  if (node.type === 'SymbolNode')
    return (node as SymbolNode).name === 'pi' ? 'π' : (node as SymbolNode).name;
  const text = node.toString();
  return level > 0 && text.startsWith('-') ? `(${text})` : text;
}

function writeCall({ fn, args }: FunctionNode): string {
  const name = fn.toString();
  const [first] = args;
  if (name === 'sqrt' && first) {
    const inner = write(first, 0);
    return /^(?:\d+|[a-z])$/.test(inner) ? `√${inner}` : `√(${inner})`;
  }
  if (name === 'abs' && first) return `|${write(first, 0)}|`;
  const shown = { log: 'ln', log10: 'log' }[name] ?? name;
  return `${shown}(${args.map((argument) => write(argument, 0)).join(', ')})`;
}
