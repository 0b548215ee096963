/** Affine maps between the frames of images. Pixel i covers [i, i + 1), y grows downwards. */

/** Takes points to another frame: x' = a·x + b·y + c, y' = d·x + e·y + f, as [a, b, c, d, e, f]. */
export type AffineMap = readonly [number, number, number, number, number, number];

/**
 * Maps a point.
 *
 *   x' = a·x + b·y + c,   y' = d·x + e·y + f
 */
export function applyAffine([a, b, c, d, e, f]: AffineMap, x: number, y: number): [number, number] {
  return [a * x + b * y + c, d * x + e * y + f];
}

/** The map that applies `inner` first: p ↦ outer(inner(p)). */
export function composeAffine(outer: AffineMap, inner: AffineMap): AffineMap {
  const [a, b, c, d, e, f] = outer;
  const [p, q, r, s, t, u] = inner;
  return [
    a * p + b * s,
    a * q + b * t,
    a * r + b * u + c,
    d * p + e * s,
    d * q + e * t,
    d * r + e * u + f,
  ];
}

/** The map back; undefined for one that flattens the plane. */
export function invertAffine([a, b, c, d, e, f]: AffineMap): AffineMap | undefined {
  const determinant = a * e - b * d;
  if (!Number.isFinite(determinant) || Math.abs(determinant) < 1e-12) return undefined;
  const [p, q, s, t] = [
    e / determinant,
    -b / determinant,
    -d / determinant,
    a / determinant,
  ] as const;
  return [p, q, -(p * c + q * f), s, t, -(s * c + t * f)];
}

/** Whether a map has finite numbers and an inverse. */
export function isInvertible(map: AffineMap): boolean {
  const [a, b, , d, e] = map;
  return map.every(Number.isFinite) && a * e - b * d !== 0;
}

/**
 * A map from stored numbers: six, or the four [a, c, e, f] of records that knew no turns.
 *
 * @returns undefined for any other count, or for what is no finite number
 */
export function readAffineMap(numbers: readonly unknown[]): AffineMap | undefined {
  if (!numbers.every((number): number is number => Number.isFinite(number))) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = numbers;
  if (numbers.length === 6) return [a, b, c, d, e, f];
  return numbers.length === 4 ? [a, 0, b, 0, c, d] : undefined;
}
