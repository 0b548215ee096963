/** The theorems that figures apply, each as the relation it gives. */
import type { Quantity, Relation } from './relation.ts';

function sum(theorem: string, parts: readonly Quantity[], constant: number): Relation {
  return { theorem, scale: 'linear', terms: parts.map((part) => [part, 1]), constant };
}

function wholeOf(theorem: string, whole: Quantity, parts: readonly Quantity[]): Relation {
  const terms = parts.map((part) => [part, 1] as const);
  return { theorem, scale: 'linear', terms: [...terms, [whole, -1]], constant: 0 };
}

function same(theorem: string, a: Quantity, b: Quantity): Relation {
  return wholeOf(theorem, a, [b]);
}

/** The angles of a triangle add up to 180°. */
export const angleSum = (a: Quantity, b: Quantity, c: Quantity): Relation =>
  sum('triangle angle sum', [a, b, c], 180);

/** The acute angles of a right triangle add up to 90°. */
export const acuteAngles = (a: Quantity, b: Quantity): Relation =>
  sum('acute angles of a right triangle', [a, b], 90);

/** The two parts of a rectangle's corner add up to 90°. */
export const cornerOfRectangle = (a: Quantity, b: Quantity): Relation =>
  sum('corner of a rectangle', [a, b], 90);

/** Three angles side by side on a line add up to 180°. */
export const anglesOnLine = (a: Quantity, b: Quantity, c: Quantity): Relation =>
  sum('angles on a line', [a, b, c], 180);

/** Adjacent angles on a line add up to 180°. */
export const linearPair = (a: Quantity, b: Quantity): Relation => sum('linear pair', [a, b], 180);

/** An exterior angle is the sum of the two opposite interior angles. */
export const exteriorAngle = (outer: Quantity, a: Quantity, b: Quantity): Relation =>
  wholeOf('exterior angle', outer, [a, b]);

export const angleAddition = (whole: Quantity, a: Quantity, b: Quantity): Relation =>
  wholeOf('angle addition', whole, [a, b]);

export const segmentAddition = (whole: Quantity, a: Quantity, b: Quantity): Relation =>
  wholeOf('segment addition', whole, [a, b]);

export const alternateAngles = (a: Quantity, b: Quantity): Relation =>
  same('alternate interior angles', a, b);

/** Interior angles on the same side of a transversal of parallels add up to 180°. */
export const coInteriorAngles = (a: Quantity, b: Quantity): Relation =>
  sum('co-interior angles', [a, b], 180);

export const baseAngles = (a: Quantity, b: Quantity): Relation =>
  same('base angles of an isosceles triangle', a, b);

/** An isosceles triangle's apex and one base angle: apex + 2·base = 180°. */
export const isoscelesSum = (apex: Quantity, base: Quantity): Relation => ({
  theorem: 'angles of an isosceles triangle',
  scale: 'linear',
  terms: [
    [apex, 1],
    [base, 2],
  ],
  constant: 180,
});

/** A central angle is twice the inscribed angle on the same arc. */
export const inscribedAngle = (central: Quantity, inscribed: Quantity): Relation => ({
  theorem: 'inscribed angle',
  scale: 'linear',
  terms: [
    [central, 1],
    [inscribed, -2],
  ],
  constant: 0,
});

/** Opposite angles of a cyclic quadrilateral add up to 180°. */
export const cyclicQuadrilateral = (a: Quantity, b: Quantity): Relation =>
  sum('cyclic quadrilateral', [a, b], 180);

/** Opposite angles or sides of a parallelogram are equal. */
export const oppositeParts = (a: Quantity, b: Quantity): Relation =>
  same('opposite parts of a parallelogram', a, b);

export const pythagoras = (hypotenuse: Quantity, a: Quantity, b: Quantity): Relation => ({
  ...wholeOf('Pythagorean theorem', hypotenuse, [a, b]),
  scale: 'square',
});

/** a : b = c : d. */
export const proportion = (
  theorem: string,
  [a, b]: readonly [Quantity, Quantity],
  [c, d]: readonly [Quantity, Quantity],
): Relation => ({
  theorem,
  scale: 'logarithm',
  terms: [
    [a, 1],
    [b, -1],
    [c, -1],
    [d, 1],
  ],
  constant: 0,
});
