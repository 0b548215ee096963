/** Numbers as a person writes them. */

/** With at most `digits` significant digits and no trailing zeros. */
export function shortNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return `${value}`;
  const rounded = Number(value.toPrecision(digits));
  return Object.is(rounded, -0) ? '0' : `${rounded}`;
}

/** A fraction where it is a short one. */
export function nice(value: number): string {
  for (let denominator = 1; denominator <= 60; denominator++) {
    const numerator = Math.round(value * denominator);
    if (Math.abs(numerator / denominator - value) > 1e-10 * (1 + Math.abs(value))) continue;
    if (numerator === 0) return '0';
    return denominator === 1 ? `${numerator}` : `${numerator}/${denominator}`;
  }
  return `≈ ${shortNumber(value)}`;
}

/** `x = 2`, and `x ≈ 1.41421` for what `nice` could only round. */
export function is(letter: string, value: string): string {
  return value.startsWith('≈') ? `${letter} ${value}` : `${letter} = ${value}`;
}
