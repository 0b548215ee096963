/** Formulas of numbers, letters and known functions: reading, values, and the algebra system's notation. */
import {
  all,
  create,
  type EvalFunction,
  type FunctionNode,
  type MathNode,
  type SymbolNode,
} from 'mathjs';
import nerdamer from 'nerdamer-prime/all';
import { MathError } from './errors.ts';
import { writeFormula } from './write-formula.ts';

const math = create(all ?? {}, {});

const maxLength = 400;
const maxNodes = 200;
/**
 * Milliseconds after which the algebra system gives up. Its own 0.8 seconds are too few on a busy
 * machine, which then got other answers; the thread ends what takes longer than a call may.
 */
const patience = 10_000;
/** Beyond this a power is a number that nobody wants to see. */
const maxExponent = 400;

const functions: ReadonlySet<string> = new Set([
  ...['sqrt', 'nthRoot', 'cbrt', 'abs', 'exp', 'ln', 'log', 'log10', 'log2', 'factorial'],
  ...['sin', 'cos', 'tan', 'cot', 'sec', 'csc', 'asin', 'acos', 'atan', 'gcd', 'lcm', 'round'],
  ...[
    'floor',
    'ceil',
    'mod',
    'combinations',
    'permutations',
    'mean',
    'median',
    'max',
    'min',
    'sum',
  ],
]);

const constants: ReadonlySet<string> = new Set(['pi', 'e', 'i', 'inf']);

/** A formula that has been read and contains nothing but what is allowed. */
export interface Formula {
  readonly node: MathNode;
  /** The letters that stand for numbers, sorted. */
  readonly letters: readonly string[];
  /** As the algebra system reads it. */
  readonly algebra: string;
}

/** @throws MathError if the text is no formula */
export function readFormula(text: string): Formula {
  if (text.trim() === '') throw new MathError('There is no formula.');
  if (text.length > maxLength) {
    throw new MathError(`The formula has ${text.length} characters, more than ${maxLength}.`);
  }
  return formulaOf(schoolLogarithms(check(parse(apart(text)), text)));
}

/** The difference of two formulas. */
export function differenceOf(left: Formula, right: Formula): Formula {
  return formulaOf(new math.OperatorNode('-', 'subtract', [left.node, right.node]));
}

function formulaOf(node: MathNode): Formula {
  const letters = new Set<string>();
  node.traverse((inner, path) => {
    const isName = inner.type === 'SymbolNode' && path !== 'fn';
    const { name } = inner as SymbolNode;
    if (isName && !constants.has(name)) letters.add(name);
  });
  return { node, letters: [...letters].sort(), algebra: algebraOf(node) };
}

function parse(text: string): MathNode {
  try {
    return math.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw new MathError(`"${text}" is no formula: ${reason}`);
  }
}

/** Letters that are written together are a product, words are not. */
function apart(text: string): string {
  return text.replace(/[A-Za-z]+/g, (word) => {
    if (functions.has(word) || constants.has(word) || word.length === 1) return word;
    const name = [...functions].find((one) => one.length > 2 && word.startsWith(one));
    // sinx is the sine of x.
    if (name !== undefined && word.length === name.length + 1) return `${name}(${word.at(-1)})`;
    if (/^[a-z]{2,3}$/.test(word) && !english.has(word)) return `(${[...word].join('*')})`;
    return word;
  });
}

const english: ReadonlySet<string> = new Set(
  'an as at be by do go he if in is it me my no of on or so to up us we all and any are but can did for get had has her him his how its let may new not now one our out see she the too two use was way who why you'.split(
    ' ',
  ),
);

function check(root: MathNode, text: string): MathNode {
  let count = 0;
  root.traverse((node, path) => {
    count++;
    const problem = problemOf(node, path);
    if (problem !== undefined) throw new MathError(`"${text}" is no formula: ${problem}.`);
  });
  if (count > maxNodes) throw new MathError('The formula is too long.');
  return root;
}

function problemOf(node: MathNode, path: string): string | undefined {
  if (['ConstantNode', 'ParenthesisNode', 'ArrayNode'].includes(node.type)) return undefined;
  if (node.type === 'OperatorNode') {
    const { fn, args } = node as MathNode & { fn: string; args: MathNode[] };
    const [, exponent] = args;
    const isHuge =
      fn === 'pow' &&
      exponent?.type === 'ConstantNode' &&
      Math.abs(Number((exponent as MathNode & { value: unknown }).value)) > maxExponent;
    const known = ['add', 'subtract', 'multiply', 'divide', 'pow', 'unaryMinus', 'unaryPlus'];
    if (isHuge) return 'its exponent is too large';
    return [...known, 'factorial', 'mod'].includes(fn) ? undefined : `it has ${fn}`;
  }
  if (node.type === 'FunctionNode') {
    const { name } = (node as FunctionNode).fn as SymbolNode;
    return functions.has(name) ? undefined : `there is no function ${name}`;
  }
  if (node.type === 'SymbolNode') {
    const { name } = node as SymbolNode;
    if (path === 'fn' || constants.has(name) || /^[A-Za-z](?:_?\d)?$/.test(name)) return undefined;
    return `"${name}" is no letter`;
  }
  return `it has a ${node.type}`;
}

/** School writes ln for the natural logarithm and log for that to base 10. */
function schoolLogarithms(root: MathNode): MathNode {
  return root.transform((node) => {
    if (node.type !== 'FunctionNode') return node;
    const call = node as FunctionNode;
    const { name } = call.fn as SymbolNode;
    if (name === 'ln') return new math.FunctionNode('log', call.args);
    if (name === 'log' && call.args.length === 1) return new math.FunctionNode('log10', call.args);
    return node;
  });
}

/** nerdamer has the natural logarithm as `log`, and no roots but the square one. */
function algebraOf(root: MathNode): string {
  const rewritten = root.transform((node) => {
    if (node.type !== 'FunctionNode') return node;
    const { fn, args } = node as FunctionNode;
    const [first, second] = args;
    const { name } = fn as SymbolNode;
    if (first === undefined) return node;
    const text = first.toString();
    if (name === 'log10') return math.parse(`log(${text}) / log(10)`);
    if (name === 'log2') return math.parse(`log(${text}) / log(2)`);
    if (name === 'log' && second !== undefined) return math.parse(`log(${text}) / log(${second})`);
    if (name === 'nthRoot' || name === 'cbrt') {
      return math.parse(
        `(${text}) ^ (1 / ${second === undefined ? (name === 'cbrt' ? 3 : 2) : `(${second})`})`,
      );
    }
    if (name === 'exp') return math.parse(`e ^ (${text})`);
    return node;
  });
  return rewritten.toString({ implicit: 'show', parenthesis: 'keep' });
}

/** Roots are looked for with thousands of values: a formula is compiled once. */
const compiled = new WeakMap<MathNode, EvalFunction>();

/** The value with numbers in place of letters; NaN where it has none or is not real. */
export function valueAt(formula: Formula, values: Readonly<Record<string, number>> = {}): number {
  try {
    let code = compiled.get(formula.node);
    if (code === undefined) {
      code = formula.node.compile();
      compiled.set(formula.node, code);
    }
    const value: unknown = code.evaluate({ inf: Number.POSITIVE_INFINITY, ...values });
    if (typeof value === 'number') return value;
    const { re, im } = value as { re?: number; im?: number };
    const isReal =
      re !== undefined && im !== undefined && Math.abs(im) < 1e-12 * (1 + Math.abs(re));
    return isReal ? re : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** A formula of the algebra system's as a person writes it. */
export function prettyAlgebra(text: string): string {
  return writeFormula(readAlgebra(text).node);
}

/** A formula of the algebra system's, such as a root that it found. */
export function readAlgebra(text: string): Formula {
  return { ...readFormula(text.replaceAll(/\blog\b/g, 'ln')), algebra: text };
}

/**
 * Calls the algebra system.
 *
 * @throws MathError if it cannot do that
 */
export function algebra(call: string): string {
  try {
    nerdamer.set('TIMEOUT', patience);
    return nerdamer(call).toString();
  } catch (error) {
    throw new MathError(error instanceof Error ? error.message : 'The algebra system failed.');
  }
}

/** The parser's own evaluation, for matrices and units. */
export { math };
