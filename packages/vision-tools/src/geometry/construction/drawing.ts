/** A drawing with coordinates, as a diagram is read: named points, straight lines through them, circles. */
import type { Point } from '../cdl/statement.ts';

/** Pixels or any unit, y downwards as in an image. */
export interface Position {
  readonly x: number;
  readonly y: number;
}

export interface DrawnCircle {
  /** Its name, which is that of its center where the center has one. */
  readonly name: string;
  readonly center: Position;
  readonly radius: number;
  /** The named points on it. */
  readonly points: readonly Point[];
}

export interface Drawing {
  readonly points: ReadonlyMap<Point, Position>;
  /** The named points on each straight line, in order. Consecutive ones are joined. */
  readonly lines: readonly (readonly Point[])[];
  readonly circles: readonly DrawnCircle[];
}

/** Twice the area of the triangle: positive if a, b, c are counterclockwise as one looks at the image. */
export function turnOf(a: Position, b: Position, c: Position): number {
  // y points down, so that the sign is the opposite of the usual one.
  return -((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

/** The direction from one position to another, counterclockwise from the right, in radians. */
export function heading(from: Position, to: Position): number {
  return Math.atan2(-(to.y - from.y), to.x - from.x);
}
