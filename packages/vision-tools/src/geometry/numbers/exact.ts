/** Finite sums of rational multiples of √n·πᵏ, the exact numbers of school geometry. */
import { Fraction } from 'fraction.js';

/** factor · √radicand · π^pi, with a square-free radicand. */
export interface ExactTerm {
  readonly factor: Fraction;
  readonly radicand: bigint;
  readonly pi: number;
}

/** A sum of terms whose roots and powers of π differ, none of them zero, in a fixed order. */
export type Exact = readonly ExactTerm[];

/** Beyond this a sum is no longer something that a person would write. */
const maxTerms = 12;
const maxRadicand = 1_000_000_000n;
const maxDigits = 60;

/** The sum of terms with equal roots and powers collected; `undefined` if it grows out of hand. */
export function collect(terms: Iterable<ExactTerm>): Exact | undefined {
  const byKey = new Map<string, ExactTerm>();
  for (const term of terms) {
    const key = `${term.pi} ${term.radicand}`;
    const before = byKey.get(key);
    byKey.set(
      key,
      before === undefined ? term : { ...term, factor: before.factor.add(term.factor) },
    );
  }
  const kept = [...byKey.values()].filter(({ factor }) => factor.n !== 0n);
  if (kept.length > maxTerms || kept.some(isUnwieldy)) return undefined;
  return kept.sort((a, b) => b.pi - a.pi || Number(a.radicand - b.radicand));
}

function isUnwieldy({ factor, radicand }: ExactTerm): boolean {
  return radicand > maxRadicand || `${factor.n}${factor.d}`.length > maxDigits;
}

export function exactOf(factor: Fraction): Exact {
  return factor.n === 0n ? [] : [{ factor, radicand: 1n, pi: 0 }];
}

export function multiplyExact(a: Exact, b: Exact): Exact | undefined {
  const terms: ExactTerm[] = [];
  for (const left of a) for (const right of b) terms.push(multiplyTerms(left, right));
  return collect(terms);
}

function multiplyTerms(a: ExactTerm, b: ExactTerm): ExactTerm {
  // √m·√n = g·√(mn/g²) with g = gcd(m, n), as both are square-free.
  const common = gcd(a.radicand, b.radicand);
  return {
    factor: a.factor.mul(b.factor).mul(common),
    radicand: (a.radicand / common) * (b.radicand / common),
    pi: a.pi + b.pi,
  };
}

/**
 * 1 / a, by multiplying with conjugates until no root is left in the denominator; `undefined` where π
 * stays in a sum, or for zero.
 */
export function invertExact(a: Exact): Exact | undefined {
  const [first] = a;
  if (first === undefined) return undefined;
  const { pi } = first;
  if (a.some((term) => term.pi !== pi)) return undefined;
  let denominator: Exact = a.map((term) => ({ ...term, pi: 0 }));
  let numerator: Exact = [{ factor: new Fraction(1), radicand: 1n, pi: -pi }];
  for (let round = 0; round < 5; round++) {
    const rooted = denominator.find(({ radicand }) => radicand !== 1n);
    if (rooted === undefined) break;
    const prime = smallestPrime(rooted.radicand);
    const conjugate = denominator.map((term) =>
      term.radicand % prime === 0n ? { ...term, factor: term.factor.neg() } : term,
    );
    const [above, below] = [
      multiplyExact(numerator, conjugate),
      multiplyExact(denominator, conjugate),
    ];
    if (above === undefined || below === undefined) return undefined;
    [numerator, denominator] = [above, below];
  }
  const [only, ...rest] = denominator;
  if (only === undefined || rest.length > 0 || only.radicand !== 1n) return undefined;
  return numerator.map((term) => ({ ...term, factor: term.factor.div(only.factor) }));
}

/** √a for a rational, q·π²ᵏ, or a + b√n that is a square of such a sum; else `undefined`. */
export function rootOfExact(a: Exact): Exact | undefined {
  const [first, second, ...rest] = a;
  if (first === undefined) return [];
  if (second === undefined) return rootOfTerm(first);
  if (rest.length > 0 || first.pi !== 0 || second.pi !== 0 || first.radicand !== 1n) {
    return undefined;
  }
  // √(p + q√n) = √x ± √y with x, y = (p ± √(p² − q²n)) / 2.
  const { factor: p } = first;
  const { factor: q, radicand: n } = second;
  const inner = p.mul(p).sub(q.mul(q).mul(n));
  const root = inner.s < 0n ? undefined : rationalRoot(inner);
  if (root === undefined) return undefined;
  const [x, y] = [p.add(root).div(2), p.sub(root).div(2)].map((part) =>
    part.s < 0n ? undefined : rootOfTerm({ factor: part, radicand: 1n, pi: 0 }),
  );
  if (x === undefined || y === undefined) return undefined;
  const signed = q.s < 0n ? y.map((term) => ({ ...term, factor: term.factor.neg() })) : y;
  return collect([...x, ...signed]);
}

function rootOfTerm({ factor, radicand, pi }: ExactTerm): Exact | undefined {
  if (radicand !== 1n || pi % 2 !== 0 || factor.s < 0n) return undefined;
  if (factor.n === 0n) return [];
  // √(n/d) = √(n·d) / d.
  const parts = squareParts(factor.n * factor.d);
  if (parts === undefined) return undefined;
  const { outside, inside } = parts;
  return [{ factor: new Fraction(outside, factor.d), radicand: inside, pi: pi / 2 }];
}

function rationalRoot(value: Fraction): Fraction | undefined {
  const [n, d] = [integerRoot(value.n), integerRoot(value.d)];
  return n === undefined || d === undefined ? undefined : new Fraction(n, d);
}

/** value = outside² · inside with a square-free inside; `undefined` where that is too long a search. */
function squareParts(value: bigint): { outside: bigint; inside: bigint } | undefined {
  let [outside, inside, rest] = [1n, 1n, value];
  for (let prime = 2n; prime * prime * prime <= rest; prime++) {
    if (prime > 20_000n) return undefined;
    while (rest % (prime * prime) === 0n) {
      outside *= prime;
      rest /= prime * prime;
    }
    if (rest % prime === 0n) {
      inside *= prime;
      rest /= prime;
    }
  }
  // At most two primes are left: they are a square, or the rest is square-free.
  const root = integerRoot(rest);
  return root === undefined
    ? { outside, inside: inside * rest }
    : { outside: outside * root, inside };
}

function integerRoot(value: bigint): bigint | undefined {
  let guess = BigInt(Math.floor(Math.sqrt(Number(value))));
  for (let step = 0; step < 60; step++) {
    if (guess === 0n) break;
    const next = (guess + value / guess) / 2n;
    if (next === guess || next === guess + 1n) break;
    guess = next;
  }
  return guess * guess === value ? guess : undefined;
}

function smallestPrime(value: bigint): bigint {
  for (let prime = 2n; prime * prime <= value; prime++) if (value % prime === 0n) return prime;
  return value;
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** As a person writes it: `3 + 2√5`, `25π/4`, `√3/2`. */
export function writeExact(terms: Exact): string {
  if (terms.length === 0) return '0';
  const written = terms.map(writeTerm).join(' + ');
  return written.replaceAll('+ -', '- ').replaceAll('+ −', '− ').replace(/^- /, '-');
}

function writeTerm({ factor, radicand, pi }: ExactTerm): string {
  const root = radicand === 1n ? '' : `√${radicand}`;
  const power = pi === 1 ? 'π' : pi > 1 ? `π^${pi}` : '';
  const symbols = `${root}${power}`;
  const sign = factor.s < 0n ? '-' : '';
  const numerator = factor.n === 1n && symbols !== '' ? symbols : `${factor.n}${symbols}`;
  const below = [
    ...(factor.d === 1n ? [] : [`${factor.d}`]),
    ...(pi < 0 ? [pi === -1 ? 'π' : `π^${-pi}`] : []),
  ];
  if (below.length === 0) return `${sign}${numerator}`;
  return `${sign}${numerator}/${below.length === 1 ? below[0] : `(${below.join('')})`}`;
}
