/**
 * The 256 values of dynamic tree quantization: relative precision over seven orders of magnitude.
 */

/** Powers of ten that the exponent spans. */
const EXPONENTS = 7;

/**
 * The values that 8-bit codes stand for, ascending, in [−1, 1].
 *
 *   ±10^(e − 6)·f,  e = 0 … 6;  f the middles of 2ᵉ (signed) or 2ᵉ⁺¹ (unsigned) equal parts of
 *   [0.1, 1];  and 0 and 1
 *
 * Dettmers 2016, arXiv:1511.04561, section 2; for optimizers: Dettmers et al. 2021,
 * arXiv:2110.02861, section 1.3. The unsigned map uses the sign's bit for the fraction.
 */
export function dynamicMap(isSigned: boolean): Float32Array {
  const values = [0, 1];
  for (let exponent = 0; exponent < EXPONENTS; exponent++) {
    const parts = 2 ** (isSigned ? exponent : exponent + 1);
    for (let part = 0; part < parts; part++) {
      const fraction = 0.1 + (0.9 * (part + 0.5)) / parts;
      const value = 10 ** (exponent - EXPONENTS + 1) * fraction;
      values.push(value);
      if (isSigned) values.push(-value);
    }
  }
  return Float32Array.from(values).sort();
}
