/** Real numbers of a figure: exact as long as that can be written, with a float beside it. */
import { Fraction } from 'fraction.js';
import {
  collect,
  type Exact,
  exactOf,
  invertExact,
  multiplyExact,
  rootOfExact,
  writeExact,
} from './exact.ts';

/** Relative error of a float that a library function gave. */
const roundOff = 4e-16;
/** How many times its estimated error a float may be away from zero and still count as zero. */
const caution = 1e3;

export class Real {
  /** The nearest float, or what was computed in floats. */
  readonly approx: number;
  /** The number itself, where it is known. */
  readonly exact: Exact | undefined;
  /** Estimated absolute error of `approx`; 0 beside an exact number. */
  readonly error: number;

  private constructor(exact: Exact | undefined, approx: number, error: number) {
    this.exact = exact;
    this.approx = approx;
    this.error = error;
  }

  static readonly zero: Real = Real.of(0);
  static readonly one: Real = Real.of(1);
  static readonly pi: Real = Real.ofExact([{ factor: new Fraction(1), radicand: 1n, pi: 1 }]);

  /** A rational number; a decimal as text is taken as it is written. */
  static of(value: number | bigint | string | Fraction): Real {
    return Real.ofExact(exactOf(value instanceof Fraction ? value : new Fraction(value)));
  }

  static ofExact(exact: Exact): Real {
    let approx = 0;
    for (const { factor, radicand, pi } of exact) {
      approx += factor.valueOf() * Math.sqrt(Number(radicand)) * Math.PI ** pi;
    }
    return new Real(exact, approx, 0);
  }

  /** A number of which only a float is known. */
  static approximate(approx: number, error = Math.abs(approx) * roundOff): Real {
    return new Real(undefined, approx, error);
  }

  /** The number as a fraction, if it is a known one. */
  get rational(): Fraction | undefined {
    if (this.exact === undefined) return undefined;
    const [first, ...rest] = this.exact;
    if (first === undefined) return new Fraction(0);
    return rest.length === 0 && first.radicand === 1n && first.pi === 0 ? first.factor : undefined;
  }

  add(other: Real): Real {
    const exact = this.exact && other.exact && collect([...this.exact, ...other.exact]);
    if (exact) return Real.ofExact(exact);
    const sum = this.approx + other.approx;
    const scale = Math.abs(this.approx) + Math.abs(other.approx);
    return new Real(undefined, sum, this.error + other.error + scale * roundOff);
  }

  negate(): Real {
    return this.scale(new Fraction(-1));
  }

  subtract(other: Real): Real {
    return this.add(other.negate());
  }

  scale(by: Fraction): Real {
    if (by.n === 0n) return Real.zero;
    if (this.exact !== undefined) {
      const scaled = this.exact.map((term) => ({ ...term, factor: term.factor.mul(by) }));
      const exact = collect(scaled);
      if (exact !== undefined) return Real.ofExact(exact);
    }
    const factor = by.valueOf();
    return this.times(factor, Math.abs(factor) * roundOff);
  }

  multiply(other: Real): Real {
    const exact = this.exact && other.exact && multiplyExact(this.exact, other.exact);
    return exact ? Real.ofExact(exact) : this.times(other.approx, other.error);
  }

  private times(by: number, byError: number): Real {
    const product = this.approx * by;
    const error =
      Math.abs(this.approx) * byError + Math.abs(by) * this.error + Math.abs(product) * roundOff;
    return new Real(undefined, product, error);
  }

  /** 1 / this; of zero, an infinite float. */
  invert(): Real {
    const exact = this.exact && invertExact(this.exact);
    if (exact) return Real.ofExact(exact);
    const inverse = 1 / this.approx;
    const error = (this.error / Math.abs(this.approx) + roundOff) * Math.abs(inverse);
    return new Real(undefined, inverse, error);
  }

  divide(other: Real): Real {
    return this.multiply(other.invert());
  }

  /** The root of a number that is not negative; a rounding error below zero counts as zero. */
  root(): Real {
    if (this.isZero) return Real.zero;
    const exact = this.exact && rootOfExact(this.exact);
    // An exact root of a + b√n may come out with the other sign: x − y for y − x.
    if (exact) {
      const root = Real.ofExact(exact);
      return root.approx < 0 ? root.negate() : root;
    }
    const root = Math.sqrt(this.approx);
    return new Real(undefined, root, this.error / (2 * root) + root * roundOff);
  }

  power(exponent: number): Real {
    if (exponent < 0) return this.power(-exponent).invert();
    let result = Real.one;
    for (let count = 0; count < exponent; count++) result = result.multiply(this);
    return result;
  }

  /** Whether it is zero; a float, whether it is zero within its rounding errors. */
  get isZero(): boolean {
    if (this.exact !== undefined) return this.exact.length === 0;
    return Math.abs(this.approx) <= this.error * caution + 1e-12;
  }

  equals(other: Real): boolean {
    return this.subtract(other).isZero;
  }

  /** Exactly, as a person writes it; a float with ten digits. */
  toString(): string {
    if (this.exact !== undefined) return writeExact(this.exact);
    return `${Number(this.approx.toPrecision(10))}`;
  }
}
