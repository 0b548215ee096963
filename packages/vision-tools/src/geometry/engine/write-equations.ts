/** Equations as a person writes them: sums on both sides, ratios as fractions, powers. */
import type { Polynomial, Powers } from '../algebra/polynomial.ts';
import type { Real } from '../numbers/real.ts';
import type { Linear, Measures, Unknown } from './measures.ts';

const superscripts = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

interface Signed {
  readonly isNegative: boolean;
  readonly text: string;
}

/** The combination, which is zero, as an equation with no minus sign that can be avoided. */
export function writeLinear({ terms, constant }: Linear, measures: Measures): string {
  const parts: Signed[] = [...terms].map(([id, factor]) => {
    const { name } = measures.get(id);
    const size = factor.abs();
    const times = size.equals(1) ? '' : size.d === 1n ? `${size.n}·` : `${size.n}/${size.d}·`;
    return { isNegative: factor.s < 0n, text: `${times}${name}` };
  });
  const unit = [...terms.keys()].some((id) => isAngle(measures.get(id))) ? '°' : '';
  return balance(parts, constant, unit);
}

export function writePolynomial(part: Polynomial, measures: Measures): string {
  const parts: Signed[] = [];
  let rest: Real | undefined;
  for (const { powers, coefficient } of part.values()) {
    if (powers.length === 0) {
      rest = coefficient;
      continue;
    }
    const isNegative = coefficient.approx < 0;
    const size = isNegative ? coefficient.negate() : coefficient;
    const isOne = size.rational?.equals(1) === true;
    const times = isOne ? '' : `${bracketed(`${size}`)}·`;
    parts.push({ isNegative, text: `${times}${writePowers(powers, measures)}` });
  }
  return balance(parts, rest, '');
}

function balance(parts: readonly Signed[], rest: Real | undefined, unit: string): string {
  const positive = parts.filter(({ isNegative }) => !isNegative).map(({ text }) => text);
  const negative = parts.filter(({ isNegative }) => isNegative).map(({ text }) => text);
  if (rest !== undefined && !rest.isZero) {
    // With terms on one side only, the constant goes alone onto the other.
    const isLeft = positive.length === 0 || (negative.length > 0 && rest.approx > 0);
    const shown = `${isLeft ? rest : rest.negate()}${unit}`;
    (isLeft ? positive : negative).push(shown);
  }
  const join = (side: readonly string[]): string => (side.length === 0 ? '0' : side.join(' + '));
  return `${join(positive)} = ${join(negative)}`;
}

/** Π unknown^exponent = constant. */
export function writeRatio(powers: Powers, constant: Real, measures: Measures): string {
  const above = powers.filter(([, exponent]) => exponent > 0);
  const below = powers.filter(([, exponent]) => exponent < 0);
  const flip = (side: Powers): Powers => side.map(([id, exponent]) => [id, -exponent]);
  const isOne = constant.rational?.equals(1) === true;
  const [a, b] = above;
  const [c, d] = below;
  const areSimple = [...above, ...below].every(([, exponent]) => Math.abs(exponent) === 1);
  if (isOne && areSimple && above.length === 2 && below.length === 2 && a && b && c && d) {
    const name = ([id]: readonly [number, number]): string => measures.get(id).name;
    return `${name(a)}/${name(c)} = ${name(d)}/${name(b)}`;
  }
  const left = above.length === 0 ? '1' : writePowers(above, measures);
  const right = below.length === 0 ? '' : writePowers(flip(below), measures);
  if (right === '') return `${left} = ${constant}`;
  return isOne ? `${left} = ${right}` : `${left} = ${bracketed(`${constant}`)}·${right}`;
}

function writePowers(powers: Powers, measures: Measures): string {
  return powers
    .map(([id, exponent]) => {
      const { name, what } = measures.get(id);
      const base = what.kind === 'symbol' || /^[A-Z0-9']+$/.test(name) ? name : `(${name})`;
      return exponent === 1 ? base : `${base}${superscripts[exponent] ?? `^${exponent}`}`;
    })
    .join('·');
}

function bracketed(text: string): string {
  return / [+-] /.test(text) ? `(${text})` : text;
}

function isAngle({ domain }: Unknown): boolean {
  return domain === 'angle' || domain === 'arc';
}
