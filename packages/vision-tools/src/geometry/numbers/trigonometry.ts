/** Sines and cosines of whole numbers of degrees where they have an exact value, and the way back. */
import { Fraction } from 'fraction.js';
import { Real } from './real.ts';

const half = (a: Real, b: Real = Real.zero): Real => a.add(b).scale(new Fraction(1, 2));
const quarter = (a: Real, b: Real): Real => a.add(b).scale(new Fraction(1, 4));
const root = (n: number): Real => Real.of(n).root();

/** Cosines from 0° to 90° that are sums of square roots. */
const cosines: readonly (readonly [degrees: number, cosine: Real])[] = [
  [0, Real.one],
  [15, quarter(root(6), root(2))],
  [30, half(root(3))],
  [36, quarter(Real.one, root(5))],
  [45, half(root(2))],
  [60, half(Real.one)],
  [72, quarter(root(5), Real.of(-1))],
  [75, quarter(root(6), root(2).negate())],
  [90, Real.zero],
];

/** The cosine of an angle in degrees. */
export function cosine(degrees: Real): Real {
  const rational = degrees.rational;
  if (rational !== undefined) {
    const turned = rational.mod(360);
    const positive = turned.s < 0n ? turned.add(360) : turned;
    const folded = positive.compare(180) > 0 ? new Fraction(360).sub(positive) : positive;
    const isObtuse = folded.compare(90) > 0;
    const acute = isObtuse ? new Fraction(180).sub(folded) : folded;
    const known = cosines.find(([listed]) => acute.equals(listed));
    if (known !== undefined) return isObtuse ? known[1].negate() : known[1];
  }
  const radians = (degrees.approx * Math.PI) / 180;
  const error = (Math.abs(radians) + 1) * 4e-16 + (degrees.error * Math.PI) / 180;
  return Real.approximate(Math.cos(radians), error);
}

/** The sine of an angle in degrees. */
export function sine(degrees: Real): Real {
  return cosine(Real.of(90).subtract(degrees));
}

/** The tangent of an angle in degrees; infinite at 90°. */
export function tangent(degrees: Real): Real {
  return sine(degrees).divide(cosine(degrees));
}

/**
 * The angle from 0° to 180° with this cosine.
 *
 * @returns undefined if the number is no cosine
 */
export function arcCosine(value: Real): Real | undefined {
  for (const [degrees, listed] of cosines) {
    if (value.equals(listed)) return Real.of(degrees);
    if (value.equals(listed.negate())) return Real.of(180 - degrees);
  }
  if (Math.abs(value.approx) >= 1) return undefined;
  const steepness = Math.sqrt(1 - value.approx ** 2);
  const error = (value.error + 4e-16) / steepness + 1e-15;
  return Real.approximate((Math.acos(value.approx) * 180) / Math.PI, (error * 180) / Math.PI);
}
