/** Positive constants as products of powers, so that ratios can be eliminated like sums. */
import { Fraction } from 'fraction.js';
import { Real } from '../numbers/real.ts';
import type { ConstantArithmetic } from './elimination.ts';

/** A number that is not split further: a prime, π, or one that only has a float or is a sum. */
interface Atom {
  readonly value: Real;
  /** Whether no product of powers of such atoms but the empty one is 1. */
  readonly isIndependent: boolean;
}

/** atom^exponent, by the atom's text. */
export interface Product {
  readonly powers: ReadonlyMap<string, { readonly atom: Atom; readonly exponent: Fraction }>;
}

type Powers = Map<string, { readonly atom: Atom; readonly exponent: Fraction }>;

/** Beyond this a number is not split into primes. */
const maxSplit = 1_000_000_000n;

export const products: ConstantArithmetic<Product> = {
  zero: { powers: new Map() },
  add(a, b) {
    const powers: Powers = new Map(a.powers);
    for (const [key, { atom, exponent }] of b.powers) multiplyBy(powers, key, atom, exponent);
    return { powers };
  },
  scale(a, by) {
    const powers: Powers = new Map();
    if (by.n === 0n) return { powers };
    for (const [key, { atom, exponent }] of a.powers) {
      powers.set(key, { atom, exponent: exponent.mul(by) });
    }
    return { powers };
  },
  isZero({ powers }) {
    let [logarithm, size] = [0, 0];
    let isExact = true;
    for (const { atom, exponent } of powers.values()) {
      const part = exponent.valueOf() * Math.log(atom.value.approx);
      logarithm += part;
      size += Math.abs(part);
      isExact &&= atom.isIndependent;
    }
    return isExact ? powers.size === 0 : Math.abs(logarithm) <= 1e-11 * (1 + size);
  },
};

function multiplyBy(powers: Powers, key: string, atom: Atom, by: Fraction): void {
  const exponent = powers.get(key)?.exponent.add(by) ?? by;
  if (exponent.n === 0n) powers.delete(key);
  else powers.set(key, { atom, exponent });
}

/** @param value  positive */
export function productOf(value: Real): Product {
  const powers: Powers = new Map();
  const [first, ...rest] = value.exact ?? [];
  if (first === undefined || rest.length > 0 || first.factor.s < 0n) {
    if (!value.equals(Real.one)) multiplyBy(powers, `${value}`, opaque(value), new Fraction(1));
    return { powers };
  }
  const { factor, radicand, pi } = first;
  multiplyByInteger(powers, factor.n, new Fraction(1));
  multiplyByInteger(powers, factor.d, new Fraction(-1));
  multiplyByInteger(powers, radicand, new Fraction(1, 2));
  if (pi !== 0) multiplyBy(powers, 'π', { value: Real.pi, isIndependent: true }, new Fraction(pi));
  return { powers };
}

function opaque(value: Real): Atom {
  return { value, isIndependent: false };
}

function multiplyByInteger(powers: Powers, integer: bigint, exponent: Fraction): void {
  let rest = integer;
  for (let prime = 2n; prime * prime <= rest && prime < 2000n; prime++) {
    while (rest % prime === 0n) {
      multiplyPrime(powers, prime, exponent);
      rest /= prime;
    }
  }
  if (rest === 1n) return;
  const isPrime = rest < 4_000_000n && rest < maxSplit;
  if (isPrime) multiplyPrime(powers, rest, exponent);
  else multiplyBy(powers, `${rest}`, opaque(Real.of(rest)), exponent);
}

function multiplyPrime(powers: Powers, prime: bigint, exponent: Fraction): void {
  multiplyBy(powers, `${prime}`, { value: Real.of(prime), isIndependent: true }, exponent);
}

/** The product as a number; exact where every exponent is a multiple of a half. */
export function realOf({ powers }: Product): Real {
  let [outside, inside] = [Real.one, Real.one];
  for (const { atom, exponent } of powers.values()) {
    const doubled = exponent.mul(2);
    if (doubled.d !== 1n || doubled.n > 200n) return approximately(powers);
    const whole = exponent.floor();
    outside = outside.multiply(atom.value.power(Number(whole.s * whole.n)));
    if (exponent.d === 2n) inside = inside.multiply(atom.value);
  }
  return outside.multiply(inside.root());
}

function approximately(powers: Product['powers']): Real {
  let [logarithm, error] = [0, 0];
  for (const { atom, exponent } of powers.values()) {
    const part = exponent.valueOf() * Math.log(atom.value.approx);
    logarithm += part;
    error +=
      Math.abs(part) * 4e-16 +
      (atom.value.error / atom.value.approx) * Math.abs(exponent.valueOf());
  }
  const value = Math.exp(logarithm);
  return Real.approximate(value, value * (error + 4e-16));
}

/** A key that is equal for equal products with exact atoms, and nearly always for others. */
export function productKey(product: Product): string {
  const parts = [...product.powers].map(([key, { exponent }]) => `${key}^${exponent.toFraction()}`);
  const isExact = [...product.powers.values()].every(({ atom }) => atom.isIndependent);
  return isExact ? parts.sort().join('·') : realOf(product).approx.toPrecision(10);
}
