/** Expressions of statements and goals as fractions of polynomials in a figure's unknowns. */
import {
  addPolynomials,
  monomial,
  multiplyPolynomials,
  type Polynomial,
  scalePolynomial,
  substitute,
} from '../algebra/polynomial.ts';
import type { Expression, Quantity } from '../cdl/statement.ts';
import { Real } from '../numbers/real.ts';
import { arcCosine, cosine, sine, tangent } from '../numbers/trigonometry.ts';
import type { Knowledge, Known } from './knowledge.ts';
import { type Linear, single, sum } from './measures.ts';

export interface Fractional {
  readonly above: Polynomial;
  readonly below: Polynomial;
}

const one = monomial(1);
const maxMonomials = 60;
const maxExponent = 4;

/**
 * An expression as a fraction.
 *
 * @returns undefined where it has a function of something unknown, or an arc whose side is not known
 */
export function fractionOf(expression: Expression, knowledge: Knowledge): Fractional | undefined {
  if (expression.kind === 'number') return { above: monomial(expression.value), below: one };
  if (expression.kind === 'symbol') {
    return { above: unknown(knowledge.measures.symbol(expression.name)), below: one };
  }
  if (expression.kind === 'quantity') {
    const linear = linearOf(expression, knowledge);
    return linear === undefined ? undefined : { above: polynomialOf(linear), below: one };
  }
  const parts: Fractional[] = [];
  for (const part of expression.of) {
    const fraction = fractionOf(part, knowledge);
    if (fraction === undefined) return undefined;
    parts.push(fraction);
  }
  const [a, b] = parts;
  if (a === undefined) return undefined;
  const { name } = expression;
  if (name === 'sine' || name === 'cosine' || name === 'tangent' || name === 'root') {
    return functionOf(name, a, knowledge);
  }
  return b === undefined ? undefined : combine(name, a, b);
}

function combine(
  name: 'add' | 'subtract' | 'multiply' | 'divide' | 'power',
  a: Fractional,
  b: Fractional,
): Fractional | undefined {
  if (name === 'multiply') {
    return {
      above: multiplyPolynomials(a.above, b.above),
      below: multiplyPolynomials(a.below, b.below),
    };
  }
  if (name === 'divide') {
    return {
      above: multiplyPolynomials(a.above, b.below),
      below: multiplyPolynomials(a.below, b.above),
    };
  }
  if (name === 'power') return powerOf(a, b);
  const sign = name === 'add' ? Real.one : Real.of(-1);
  return {
    above: addPolynomials(
      multiplyPolynomials(a.above, b.below),
      scalePolynomial(multiplyPolynomials(b.above, a.below), sign),
    ),
    below: multiplyPolynomials(a.below, b.below),
  };
}

function powerOf(base: Fractional, exponent: Fractional): Fractional | undefined {
  const power = constantOf(exponent)?.rational?.valueOf();
  if (power === undefined || !Number.isInteger(power)) return undefined;
  if (Math.abs(power) > maxExponent) return undefined;
  let result: Fractional = { above: one, below: one };
  for (let count = 0; count < Math.abs(power); count++) {
    result = {
      above: multiplyPolynomials(result.above, base.above),
      below: multiplyPolynomials(result.below, base.below),
    };
  }
  return power < 0 ? { above: result.below, below: result.above } : result;
}

function functionOf(
  name: 'sine' | 'cosine' | 'tangent' | 'root',
  of: Fractional,
  knowledge: Knowledge,
): Fractional | undefined {
  const value = constantOf(of) ?? valueOfFraction(of, knowledge)?.value;
  if (value === undefined) return undefined;
  if (name === 'root') {
    return value.approx < 0 ? undefined : { above: monomial(value.root()), below: one };
  }
  return { above: monomial({ sine, cosine, tangent }[name](value)), below: one };
}

function constantOf({ above, below }: Fractional): Real | undefined {
  const [top, bottom] = [constantPart(above), constantPart(below)];
  return top === undefined || bottom === undefined || bottom.isZero
    ? undefined
    : top.divide(bottom);
}

function constantPart(part: Polynomial): Real | undefined {
  const [only, ...rest] = part.values();
  if (only === undefined) return Real.zero;
  return rest.length === 0 && only.powers.length === 0 ? only.coefficient : undefined;
}

function unknown(id: number): Polynomial {
  return monomial(1, [id, 1]);
}

export function polynomialOf({ terms, constant }: Linear): Polynomial {
  return addPolynomials(
    monomial(constant),
    ...[...terms].map(([id, factor]) => monomial(Real.of(factor), [id, 1])),
  );
}

/** A measure in terms of unknowns; `undefined` for an arc between points whose order is not known. */
export function linearOf({ name, points }: Quantity, knowledge: Knowledge): Linear | undefined {
  const { measures, figure } = knowledge;
  const [a, b, c] = points;
  if (a === undefined) return undefined;
  if (name === 'length' && b !== undefined) return single(measures.length(a, b));
  if (name === 'angle' && b !== undefined && c !== undefined) return measures.angle(a, b, c);
  if (name === 'radius') return single(measures.radius(a));
  if (name === 'diameter') return sum([single(measures.radius(a)), 2]);
  if (name === 'arc' && b !== undefined && c !== undefined) {
    const circle = figure.circles.find((one) => one.name === a);
    return circle && measures.arc(circle, b, c);
  }
  return single(measures.measure(name, points));
}

/** The value of a goal, if what is known gives it. */
export function valueOfExpression(
  expression: Expression,
  knowledge: Knowledge,
): Known<Real> | undefined {
  const fraction = fractionOf(expression, knowledge);
  return fraction && valueOfFraction(fraction, knowledge);
}

function valueOfFraction(fraction: Fractional, knowledge: Knowledge): Known<Real> | undefined {
  const premises: number[] = [];
  const filled: Polynomial[] = [];
  for (const part of [fraction.above, fraction.below]) {
    const polynomial = substitute(
      part,
      (id) => {
        const form = knowledge.form(id);
        premises.push(...form.premises);
        return form.value;
      },
      maxMonomials,
    );
    if (polynomial === undefined) return undefined;
    filled.push(polynomial);
  }
  const [above, below] = filled;
  if (above === undefined || below === undefined) return undefined;
  const value = constantOf({ above, below }) ?? quotient(above, below);
  if (value !== undefined) return { value, premises };
  return ratioOf(fraction, knowledge);
}

/** The factor between two polynomials that are multiples of each other. */
function quotient(above: Polynomial, below: Polynomial): Real | undefined {
  let factor: Real | undefined;
  if (above.size !== below.size) return undefined;
  for (const [key, { coefficient }] of above) {
    const other = below.get(key)?.coefficient;
    if (other === undefined) return undefined;
    const here = coefficient.divide(other);
    if (factor !== undefined && !factor.equals(here)) return undefined;
    factor = here;
  }
  return factor;
}

/** The value of a quotient of products that is known although its parts are not. */
function ratioOf({ above, below }: Fractional, knowledge: Knowledge): Known<Real> | undefined {
  const [[top, ...more], [bottom, ...others]] = [[...above.values()], [...below.values()]];
  if (top === undefined || bottom === undefined || more.length + others.length > 0) {
    return undefined;
  }
  const powers = [
    ...top.powers,
    ...bottom.powers.map(([id, exponent]) => [id, -exponent] as const),
  ];
  if (powers.some(([id]) => knowledge.measures.get(id).domain !== 'positive')) return undefined;
  const ratio = knowledge.ratio(powers);
  if (ratio === undefined) return undefined;
  const value = ratio.value.multiply(top.coefficient).divide(bottom.coefficient);
  return { value, premises: ratio.premises };
}

/**
 * Takes in that two expressions are equal.
 *
 * @returns false if that cannot be used, which loses knowledge but says nothing false
 */
export function addEquality(
  left: Expression,
  right: Expression,
  knowledge: Knowledge,
  reason: string,
): boolean {
  if (addTrigonometric(left, right, knowledge, reason)) return true;
  if (addTrigonometric(right, left, knowledge, reason)) return true;
  const [a, b] = [fractionOf(left, knowledge), fractionOf(right, knowledge)];
  if (a === undefined || b === undefined) return false;
  const difference = combine('subtract', a, b)?.above;
  if (difference === undefined || difference.size > maxMonomials) return false;
  addZero(difference, knowledge, reason);
  return true;
}

/** Takes in that a polynomial is zero: as a sum if it is one. */
function addZero(
  polynomial: Polynomial,
  knowledge: Knowledge,
  reason: string,
  premises: readonly number[] = [],
): void {
  const terms = new Map();
  let constant = Real.zero;
  for (const { powers, coefficient } of polynomial.values()) {
    const [first, ...rest] = powers;
    const factor = coefficient.rational;
    if (first === undefined) constant = coefficient;
    else if (rest.length > 0 || first[1] !== 1 || factor === undefined) {
      knowledge.addPolynomial(polynomial, reason, premises);
      return;
    } else terms.set(first[0], factor);
  }
  knowledge.addSum({ terms, constant }, reason, premises);
}

/** cos ∠ABC = 3/5 gives the angle; so does its tangent. A sine leaves two angles open. */
function addTrigonometric(
  left: Expression,
  right: Expression,
  knowledge: Knowledge,
  reason: string,
): boolean {
  if (left.kind !== 'operation' || (left.name !== 'cosine' && left.name !== 'tangent'))
    return false;
  const [inner] = left.of;
  const fraction = fractionOf(right, knowledge);
  const value = fraction && constantOf(fraction);
  if (inner?.kind !== 'quantity' || value === undefined) return false;
  const angle = linearOf(inner, knowledge);
  const degrees = left.name === 'cosine' ? arcCosine(value) : arcTangent(value);
  if (angle === undefined || degrees === undefined) return false;
  const difference = { terms: angle.terms, constant: angle.constant.subtract(degrees) };
  knowledge.addSum(difference, reason);
  return true;
}

/** The angle from 0° to 180°: cos² = 1 / (1 + tan²). */
function arcTangent(value: Real): Real | undefined {
  const size = Real.one.add(value.multiply(value)).root().invert();
  return arcCosine(value.approx < 0 ? size.negate() : size);
}
