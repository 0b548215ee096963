/** The value of an expression at a point, in complex float64. Nothing is ever run as code. */
import {
  add,
  type Complex,
  cosine,
  divide,
  exponential,
  gamma,
  imaginaryUnit,
  isReal,
  logarithm,
  magnitude,
  multiply,
  power,
  real,
  root,
  sine,
  subtract,
  undefinedNumber,
} from './complex.ts';
import type { Expression } from './expression.ts';
import type { Precision } from './precision.ts';

/**
 * State shared by the parts of a comparison. Evaluated parts are counted down, so that every
 * comparison ends: a limit of work, not of the clock.
 */
export interface Budget {
  left: number;
  readonly precision: Precision;
}

export type Point = ReadonlyMap<string, Complex>;

/** Terms of a sum or product beyond any answer's. */
const maxTerms = 2000;

/** NaN where the expression has no value there, or the budget is used up. */
export function evaluate(expression: Expression, point: Point, budget: Budget): Complex {
  if (--budget.left < 0) return undefinedNumber;
  const at = (part: Expression): Complex => evaluate(part, point, budget);
  switch (expression.kind) {
    case 'number':
      return real(expression.value);
    case 'symbol':
      return point.get(expression.name) ?? undefinedNumber;
    case 'constant':
      return constants[expression.name];
    case 'sum':
      return expression.terms.map(at).reduce(add, real(0));
    case 'product':
      return expression.factors.map(at).reduce(multiply, real(1));
    case 'negate': {
      const { re, im } = at(expression.of);
      return { re: -re, im: im === 0 ? 0 : -im };
    }
    case 'quotient':
      return divide(at(expression.above), at(expression.below));
    case 'power':
      return power(at(expression.base), at(expression.exponent));
    case 'measured':
      return at(expression.value);
    case 'series':
      return evaluateSeries(expression, point, budget);
    case 'call':
      if (expression.name === 'det') return determinant(expression.args[0], at);
      return evaluateCall(expression.name, expression.args.map(at));
    default:
      return undefinedNumber;
  }
}

const constants = {
  pi: real(Math.PI),
  e: real(Math.E),
  i: imaginaryUnit,
  infinity: real(Number.POSITIVE_INFINITY),
} as const;

function evaluateSeries(
  series: Extract<Expression, { kind: 'series' }>,
  point: Point,
  budget: Budget,
): Complex {
  const from = evaluate(series.from, point, budget);
  const to = evaluate(series.to, point, budget);
  const isWhole =
    isReal(from) && isReal(to) && Number.isInteger(from.re) && Number.isInteger(to.re);
  if (!isWhole || to.re - from.re > maxTerms) return undefinedNumber;
  const isSum = series.operation === 'sum';
  let total = real(isSum ? 0 : 1);
  for (let index = from.re; index <= to.re; index++) {
    const inner = new Map(point).set(series.index, real(index));
    const term = evaluate(series.term, inner, budget);
    total = isSum ? add(total, term) : multiply(total, term);
  }
  return total;
}

const one = real(1);
const half = real(0.5);

const functions: Readonly<Record<string, (x: Complex, y?: Complex) => Complex>> = {
  sin: sine,
  cos: cosine,
  tan: (x) => divide(sine(x), cosine(x)),
  cot: (x) => divide(cosine(x), sine(x)),
  sec: (x) => divide(one, cosine(x)),
  csc: (x) => divide(one, sine(x)),
  arcsin: (x) => realOnly(x, Math.asin),
  arccos: (x) => realOnly(x, Math.acos),
  arctan: (x) => realOnly(x, Math.atan),
  sinh: (x) => multiply(half, subtract(exponential(x), exponential(negated(x)))),
  cosh: (x) => multiply(half, add(exponential(x), exponential(negated(x)))),
  tanh: (x) => realOnly(x, Math.tanh),
  ln: logarithm,
  log: (x, base = real(10)) => {
    const exact = isReal(x) && base.re === 10 ? Math.log10(x.re) : Number.NaN;
    return Number.isFinite(exact) ? real(exact) : divide(logarithm(x), logarithm(base));
  },
  exp: exponential,
  sqrt: (x, degree = real(2)) => root(x, degree),
  cbrt: (x) => root(x, real(3)),
  abs: (x) => real(magnitude(x)),
  floor: (x) => realOnly(x, (value) => Math.floor(value + 1e-12)),
  ceil: (x) => realOnly(x, (value) => Math.ceil(value - 1e-12)),
  sign: (x) => realOnly(x, Math.sign),
  real: (x) => real(x.re),
  imaginary: (x) => real(x.im),
  factorial: (x) => realOnly(x, (value) => gamma(value + 1)),
  percent: (x) => divide(x, real(100)),
  degrees: (x) => multiply(x, real(Math.PI / 180)),
};

function evaluateCall(name: string, args: readonly Complex[]): Complex {
  const [x, y] = args;
  if (x === undefined) return undefinedNumber;
  if (name === 'max' || name === 'min') {
    return args.every(isReal) ? real(Math[name](...args.map(({ re }) => re))) : undefinedNumber;
  }
  if (name === 'gcd' || name === 'lcm') return commonOf(name, args);
  if (name === 'binom') return y === undefined ? undefinedNumber : binomial(x, y);
  return functions[name]?.(x, y) ?? undefinedNumber;
}

const negated = ({ re, im }: Complex): Complex => ({ re: -re, im: -im });

function realOnly(x: Complex, run: (value: number) => number): Complex {
  return isReal(x) ? real(run(x.re)) : undefinedNumber;
}

function commonOf(name: 'gcd' | 'lcm', args: readonly Complex[]): Complex {
  const values = args.map(({ re }) => Math.abs(re));
  if (!args.every(isReal) || !values.every(Number.isSafeInteger)) return undefinedNumber;
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const combine = (a: number, b: number): number =>
    name === 'gcd' ? divisor(a, b) : a === 0 || b === 0 ? 0 : (a / divisor(a, b)) * b;
  return real(values.reduce(combine));
}

/** Exact for whole numbers below 2⁵³, by Γ between. */
function binomial(n: Complex, k: Complex): Complex {
  if (!isReal(n) || !isReal(k)) return undefinedNumber;
  if (Number.isInteger(k.re) && k.re >= 0 && k.re <= 500) {
    let value = 1;
    for (let j = 1; j <= k.re; j++) value = (value * (n.re - k.re + j)) / j;
    return real(Number.isInteger(n.re) ? Math.round(value) : value);
  }
  return real(gamma(n.re + 1) / (gamma(k.re + 1) * gamma(n.re - k.re + 1)));
}

/** By Gaussian elimination with pivots. */
function determinant(matrix: Expression | undefined, at: (part: Expression) => Complex): Complex {
  if (matrix?.kind !== 'matrix' || matrix.rows.length !== matrix.rows[0]?.length) {
    return undefinedNumber;
  }
  const rows = matrix.rows.map((row) => row.map(at));
  let value = one;
  for (let column = 0; column < rows.length; column++) {
    const sizes = rows.map((row, index) => (index < column ? -1 : magnitude(row[column] ?? one)));
    const pivot = sizes.indexOf(Math.max(...sizes));
    const [top, other] = [rows[pivot], rows[column]];
    if (top === undefined || other === undefined) return undefinedNumber;
    if (pivot !== column) {
      rows[pivot] = other;
      rows[column] = top;
      value = negated(value);
    }
    const lead = top[column] ?? one;
    value = multiply(value, lead);
    if (magnitude(lead) === 0) return real(0);
    for (let below = column + 1; below < rows.length; below++) {
      const row = rows[below] ?? [];
      const factor = divide(row[column] ?? one, lead);
      rows[below] = row.map((entry, k) => subtract(entry, multiply(factor, top[k] ?? one)));
    }
  }
  return value;
}
