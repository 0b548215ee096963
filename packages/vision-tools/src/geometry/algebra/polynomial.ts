/** Polynomials in a figure's unknowns with real coefficients. */
import { Real } from '../numbers/real.ts';

/** Unknowns with their exponents, by number of the unknown. */
export type Powers = readonly (readonly [unknown: number, exponent: number])[];

export interface Monomial {
  readonly powers: Powers;
  readonly coefficient: Real;
}

/** By a key of its powers; no coefficient is zero. */
export type Polynomial = ReadonlyMap<string, Monomial>;

function keyOf(powers: Powers): string {
  return powers.map(([unknown, exponent]) => `${unknown}^${exponent}`).join(' ');
}

function polynomial(monomials: Iterable<Monomial>): Polynomial {
  const collected = new Map<string, Monomial>();
  for (const { powers, coefficient } of monomials) {
    const key = keyOf(powers);
    const before = collected.get(key);
    const total = before === undefined ? coefficient : before.coefficient.add(coefficient);
    collected.set(key, { powers, coefficient: total });
  }
  for (const [key, { coefficient }] of collected) if (coefficient.isZero) collected.delete(key);
  return collected;
}

/** coefficient · Π unknown^exponent. */
export function monomial(
  coefficient: Real | number,
  ...powers: readonly (readonly [unknown: number, exponent: number])[]
): Polynomial {
  const factor = typeof coefficient === 'number' ? Real.of(coefficient) : coefficient;
  return polynomial([{ powers: mergePowers(powers, []), coefficient: factor }]);
}

export function addPolynomials(...parts: readonly Polynomial[]): Polynomial {
  return polynomial(parts.flatMap((part) => [...part.values()]));
}

export function scalePolynomial(part: Polynomial, by: Real): Polynomial {
  return polynomial(
    [...part.values()].map(({ powers, coefficient }) => ({
      powers,
      coefficient: coefficient.multiply(by),
    })),
  );
}

export function multiplyPolynomials(a: Polynomial, b: Polynomial): Polynomial {
  const monomials: Monomial[] = [];
  for (const left of a.values()) {
    for (const right of b.values()) {
      monomials.push({
        powers: mergePowers(left.powers, right.powers),
        coefficient: left.coefficient.multiply(right.coefficient),
      });
    }
  }
  return polynomial(monomials);
}

function mergePowers(a: Powers, b: Powers): Powers {
  const merged = new Map<number, number>();
  for (const [unknown, exponent] of [...a, ...b]) {
    merged.set(unknown, (merged.get(unknown) ?? 0) + exponent);
  }
  return [...merged].sort(([first], [second]) => first - second);
}

export function degreeOf(powers: Powers): number {
  return powers.reduce((total, [, exponent]) => total + exponent, 0);
}

export function unknownsOf(part: Polynomial): ReadonlySet<number> {
  const unknowns = new Set<number>();
  for (const { powers } of part.values()) for (const [unknown] of powers) unknowns.add(unknown);
  return unknowns;
}

/**
 * The polynomial with others in place of its unknowns.
 *
 * @param limit  of monomials; a longer result is given up
 */
export function substitute(
  part: Polynomial,
  by: (unknown: number) => Polynomial | undefined,
  limit: number,
): Polynomial | undefined {
  let total: Polynomial = new Map();
  for (const { powers, coefficient } of part.values()) {
    let product: Polynomial = monomial(coefficient);
    for (const [unknown, exponent] of powers) {
      const value = by(unknown) ?? monomial(1, [unknown, 1]);
      for (let count = 0; count < exponent; count++) {
        product = multiplyPolynomials(product, value);
        if (product.size > limit) return undefined;
      }
    }
    total = addPolynomials(total, product);
    if (total.size > limit) return undefined;
  }
  return total;
}

/** Coefficients from the constant up, of a polynomial in one unknown. */
export function coefficientsIn(part: Polynomial, unknown: number): readonly Real[] {
  const coefficients: Real[] = [];
  for (const { powers, coefficient } of part.values()) {
    const exponent = powers.find(([one]) => one === unknown)?.[1] ?? 0;
    while (coefficients.length <= exponent) coefficients.push(Real.zero);
    coefficients[exponent] = coefficient;
  }
  return coefficients;
}

/**
 * All real roots of a polynomial of degree 1 or 2, or of degree 2 in a power of its unknown.
 *
 * @param coefficients  from the constant up; the last is not zero
 * @returns undefined for other degrees
 */
export function rootsOf(coefficients: readonly Real[]): readonly Real[] | undefined {
  const [c, b, a, third, fourth, ...more] = coefficients;
  if (c === undefined || b === undefined || more.length > 0) return undefined;
  if (a === undefined) return [c.negate().divide(b)];
  if (third === undefined) return quadraticRoots(a, b, c);
  if (fourth === undefined || !third.isZero || !b.isZero) return undefined;
  return quadraticRoots(fourth, a, c).flatMap((square) => {
    if (square.isZero) return [Real.zero];
    if (square.approx < 0) return [];
    const root = square.root();
    return [root, root.negate()];
  });
}

function quadraticRoots(a: Real, b: Real, c: Real): readonly Real[] {
  const discriminant = b.multiply(b).subtract(a.multiply(c).multiply(Real.of(4)));
  const twice = a.multiply(Real.of(2));
  if (discriminant.isZero) return [b.negate().divide(twice)];
  if (discriminant.approx < 0) return [];
  const root = discriminant.root();
  return [b.negate().add(root).divide(twice), b.negate().subtract(root).divide(twice)];
}
