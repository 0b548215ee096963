/** Complex numbers, as far as comparing answers needs them; real inputs stay exactly real. */

export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const real = (re: number): Complex => ({ re, im: 0 });
export const undefinedNumber: Complex = real(Number.NaN);
export const imaginaryUnit: Complex = { re: 0, im: 1 };

export const isReal = ({ re, im }: Complex): boolean =>
  Math.abs(im) <= 1e-12 * Math.max(1, Math.abs(re));
export const isFiniteNumber = ({ re, im }: Complex): boolean =>
  Number.isFinite(re) && Number.isFinite(im);
export const magnitude = ({ re, im }: Complex): number =>
  im === 0 ? Math.abs(re) : Math.hypot(re, im);

export const add = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
export const subtract = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });

export function multiply(a: Complex, b: Complex): Complex {
  // ∞ · 0 in the parts that are not there would make NaN of a real product.
  if (a.im === 0 && b.im === 0) return real(a.re * b.re);
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

export function divide(a: Complex, b: Complex): Complex {
  if (a.im === 0 && b.im === 0) return real(b.re === 0 ? Number.NaN : a.re / b.re);
  const size = b.re * b.re + b.im * b.im;
  return {
    re: (a.re * b.re + a.im * b.im) / size,
    im: (a.im * b.re - a.re * b.im) / size,
  };
}

export function exponential({ re, im }: Complex): Complex {
  const size = Math.exp(re);
  return im === 0 ? real(size) : { re: size * Math.cos(im), im: size * Math.sin(im) };
}

/** The principal natural logarithm. */
export function logarithm(a: Complex): Complex {
  if (a.im === 0 && a.re > 0) return real(Math.log(a.re));
  if (a.im === 0 && a.re === 0) return undefinedNumber;
  return { re: Math.log(magnitude(a)), im: Math.atan2(a.im, a.re) };
}

/** The principal power; real wherever the real power exists. */
export function power(base: Complex, exponent: Complex): Complex {
  if (exponent.im === 0 && base.im === 0) {
    if (base.re === 0 && exponent.re <= 0) return exponent.re === 0 ? real(1) : undefinedNumber;
    if (base.re >= 0 || Number.isInteger(exponent.re)) return real(base.re ** exponent.re);
  }
  if (exponent.im === 0 && Number.isInteger(exponent.re) && Math.abs(exponent.re) <= 64) {
    return integerPower(base, exponent.re);
  }
  if (magnitude(base) === 0) return undefinedNumber;
  return exponential(multiply(exponent, logarithm(base)));
}

/** By squaring, so that i² is −1 and not −1 + 1e-16·i. */
function integerPower(base: Complex, exponent: number): Complex {
  let result = real(1);
  let square = base;
  for (let left = Math.abs(exponent); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return exponent < 0 ? divide(real(1), result) : result;
}

/** The n-th root; the real one of a negative number where n is odd. */
export function root(a: Complex, degree: Complex): Complex {
  const n = degree.re;
  if (a.im === 0 && degree.im === 0 && a.re < 0 && Number.isInteger(n) && Math.abs(n % 2) === 1) {
    return real(-((-a.re) ** (1 / n)));
  }
  if (a.im === 0 && a.re >= 0 && n === 2) return real(Math.sqrt(a.re));
  if (a.im === 0 && a.re >= 0 && n === 3) return real(Math.cbrt(a.re));
  return power(a, divide(real(1), degree));
}

export function sine({ re, im }: Complex): Complex {
  if (im === 0) return real(Math.sin(re));
  return { re: Math.sin(re) * Math.cosh(im), im: Math.cos(re) * Math.sinh(im) };
}

export function cosine({ re, im }: Complex): Complex {
  if (im === 0) return real(Math.cos(re));
  return { re: Math.cos(re) * Math.cosh(im), im: -Math.sin(re) * Math.sinh(im) };
}

/** Lanczos' approximation (g = 7, nine terms, Godfrey's coefficients); error below 1e-13. */
export function gamma(x: number): number {
  if (Number.isInteger(x) && x > 0 && x <= 171) {
    let product = 1;
    for (let k = 2; k < x; k++) product *= k;
    return product;
  }
  if (x < 0.5) {
    const sin = Math.sin(Math.PI * x);
    return Number.isInteger(x) ? Number.NaN : Math.PI / (sin * gamma(1 - x));
  }
  const terms = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
  ];
  const shifted = x - 1;
  let sum = 0;
  terms.forEach((term, k) => {
    sum += k === 0 ? term : term / (shifted + k);
  });
  const t = shifted + 7.5;
  return Math.sqrt(2 * Math.PI) * t ** (shifted + 0.5) * Math.exp(-t) * sum;
}
