/** A figure by coordinates: points, lines, circles and marks, and what its coordinates measure. */
import type { Quantity, Relation } from './relation.ts';

export type Point = readonly [x: number, y: number];

interface Circle {
  readonly center: Point;
  readonly radius: number;
}

/** A figure with the theorems that apply to it. */
export interface Figure {
  readonly kind: string;
  /** Points by single letters. */
  readonly points: ReadonlyMap<string, Point>;
  /** Drawn lines, as chains of collinear points in order: `BDC`. */
  readonly lines: readonly string[];
  readonly circles: readonly Circle[];
  /** Angles marked as right angles, `ABC` with the vertex in the middle. */
  readonly rightAngles: readonly string[];
  /** Groups of parallel lines, marked with arrows. */
  readonly parallels: readonly (readonly string[])[];
  /** Groups of equal segments, marked with ticks. */
  readonly equals: readonly (readonly string[])[];
  /** The quantities that a question may ask for or give. */
  readonly quantities: readonly Quantity[];
  readonly relations: readonly Relation[];
  /** Facts that the text states, in words. */
  readonly facts: readonly string[];
  /** The same facts in FormalGeo's language. */
  readonly construction: readonly string[];
}

export function pointOf({ points }: Pick<Figure, 'points'>, name: string): Point {
  const point = points.get(name);
  if (point === undefined) throw new Error(`The figure has no point ${name}.`);
  return point;
}

export function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}

/** The angle at `vertex` between the rays to a and b; degrees in [0, 180]. */
export function angleBetween(a: Point, vertex: Point, b: Point): number {
  const [ux, uy] = [a[0] - vertex[0], a[1] - vertex[1]];
  const [vx, vy] = [b[0] - vertex[0], b[1] - vertex[1]];
  return (Math.atan2(Math.abs(ux * vy - uy * vx), ux * vx + uy * vy) * 180) / Math.PI;
}

/** A measure read off the coordinates: a length, or an angle in degrees. */
export function measure(figure: Pick<Figure, 'points'>, quantity: Quantity): number {
  const [a, b, c] = [...quantity.replace('∠', '')].map((name) => pointOf(figure, name));
  if (a === undefined || b === undefined) throw new Error(`${quantity} is no measure.`);
  return c === undefined ? distance(a, b) : angleBetween(a, b, c);
}

export function isAngle(quantity: Quantity): boolean {
  return quantity.startsWith('∠');
}

/** A measure in FormalGeo's language. */
export function writeMeasure(quantity: Quantity): string {
  return isAngle(quantity) ? `MeasureOfAngle(${quantity.slice(1)})` : `LengthOfLine(${quantity})`;
}

/** Whether a drawn line passes inside an angle or a point lies inside a segment. */
export function isComposite(figure: Figure, quantity: Quantity): boolean {
  const [a, b, c] = [...quantity.replace('∠', '')];
  if (a === undefined || b === undefined) return true;
  if (c === undefined) {
    return figure.lines.some((line) => {
      return (
        Math.abs(line.indexOf(a) - line.indexOf(b)) > 1 && line.includes(a) && line.includes(b)
      );
    });
  }
  const whole = measure(figure, quantity);
  const neighbors = figure.lines.flatMap((line) => neighborsOn(line, b));
  return neighbors.some((name) => {
    const left = measure(figure, `∠${a}${b}${name}`);
    const right = measure(figure, `∠${name}${b}${c}`);
    return left > 1e-6 && right > 1e-6 && Math.abs(left + right - whole) < 1e-6;
  });
}

function neighborsOn(line: string, name: string): readonly string[] {
  const at = line.indexOf(name);
  if (at < 0) return [];
  return [line[at - 1], line[at + 1]].filter((other) => other !== undefined);
}
