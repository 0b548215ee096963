/** Statements about a figure: points, measures, relations and goals, as in FormalGeo's language. */
import type { Real } from '../numbers/real.ts';

/** A capital letter, with digits or primes after it: `A`, `B1`, `C'`. */
export type Point = string;

export type QuantityName =
  | 'length'
  | 'angle'
  | 'arc'
  | 'arcLength'
  | 'radius'
  | 'diameter'
  | 'circumference'
  | 'circleArea'
  | 'perimeter'
  | 'area'
  | 'height'
  | 'sectorArea'
  | 'sectorPerimeter';

/**
 * A measure. `points`: two of a length, three of an angle with its vertex in the middle, the circle and
 * the ends of an arc or sector in counterclockwise order, the circle alone, or the corners of a polygon.
 */
export interface Quantity {
  readonly kind: 'quantity';
  readonly name: QuantityName;
  readonly points: readonly Point[];
}

export type OperationName =
  | 'add'
  | 'subtract'
  | 'multiply'
  | 'divide'
  | 'power'
  | 'sine'
  | 'cosine'
  | 'tangent'
  | 'root';

export type Expression =
  | { readonly kind: 'number'; readonly value: Real }
  | { readonly kind: 'symbol'; readonly name: string }
  | Quantity
  | {
      readonly kind: 'operation';
      readonly name: OperationName;
      readonly of: readonly Expression[];
    };

/** Two measures are equal, in degrees or in the figure's unit of length. */
export interface Equality {
  readonly kind: 'equality';
  readonly left: Expression;
  readonly right: Expression;
}

/** A construction or relation: `IsMidpointOfLine(M,AB)` has the groups [M], [A, B]. */
export interface Relation {
  readonly kind: 'relation';
  readonly name: RelationName;
  readonly groups: readonly (readonly Point[])[];
}

export type Statement = Equality | Relation;

/** The goal of a question: the value of an expression, or whether a statement holds. */
export type Goal =
  | { readonly kind: 'value'; readonly of: Expression }
  | { readonly kind: 'proof'; readonly of: Statement };

/**
 * Every relation with the number of points in each of its groups; `'+'` is any number from three on, and
 * a last `'…'` repeats the group before it.
 */
export const relations = {
  Shape: [2, '…'],
  Collinear: ['+'],
  Cocircular: [1, 'any'],
  Reflex: [3],
  Line: [2],
  Polygon: ['+'],
  RightTriangle: [3],
  IsoscelesTriangle: [3],
  IsoscelesRightTriangle: [3],
  EquilateralTriangle: [3],
  Kite: [4],
  Parallelogram: [4],
  Rhombus: [4],
  Rectangle: [4],
  Square: [4],
  Trapezoid: [4],
  IsoscelesTrapezoid: [4],
  RightTrapezoid: [4],
  RegularPolygon: ['+'],
  IsMidpointOfLine: [1, 2],
  IsMidpointOfArc: [1, 3],
  ParallelBetweenLine: [2, 2],
  PerpendicularBetweenLine: [2, 2],
  IsPerpendicularBisectorOfLine: [2, 2],
  IsBisectorOfAngle: [2, 3],
  IsMedianOfTriangle: [2, 3],
  IsAltitudeOfTriangle: [2, 3],
  IsMidsegmentOfTriangle: [2, 3],
  IsCircumcenterOfTriangle: [1, 3],
  IsIncenterOfTriangle: [1, 3],
  IsCentroidOfTriangle: [1, 3],
  IsOrthocenterOfTriangle: [1, 3],
  CongruentBetweenTriangle: [3, 3],
  MirrorCongruentBetweenTriangle: [3, 3],
  SimilarBetweenTriangle: [3, 3],
  MirrorSimilarBetweenTriangle: [3, 3],
  IsAltitudeOfQuadrilateral: [2, 4],
  IsMidsegmentOfQuadrilateral: [2, 4],
  IsCentreOfCircle: [1, 1],
  IsDiameterOfCircle: [2, 1],
  IsTangentOfCircle: [2, 1],
  IsInscribedInCircle: ['+', 1],
  IsCircumscribedToCircle: ['+', 1],
} as const satisfies Readonly<Record<string, readonly (number | '+' | 'any' | '…')[]>>;

export type RelationName = keyof typeof relations;

/** A relation from names of points written together: `relation('Collinear', 'ABC')`. */
export function relation(name: RelationName, ...groups: readonly string[]): Relation {
  return { kind: 'relation', name, groups: groups.map(pointsOf) };
}

/** The points in a run of letters: `AB1C'` has A, B1 and C'. */
export function pointsOf(text: string): readonly Point[] {
  return text.match(/[A-Z][0-9']*/g) ?? [];
}

export function quantity(name: QuantityName, points: string | readonly Point[]): Quantity {
  return {
    kind: 'quantity',
    name,
    points: typeof points === 'string' ? pointsOf(points) : points,
  };
}

export function equality(left: Expression, right: Expression): Equality {
  return { kind: 'equality', left, right };
}
