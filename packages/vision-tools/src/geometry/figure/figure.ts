/** The points of a construction: lines, circles, polygons, which points are joined, and sides. */
import { CdlError } from '../cdl/errors.ts';
import type { Point, Statement } from '../cdl/statement.ts';
import { arrangementOf } from './arrangement.ts';
import { type Line, linesOf } from './line.ts';
import { orientationOf } from './orient.ts';
import type { Orientation } from './orientation.ts';

/** More points than this make the search for triangles long. */
const maxPoints = 24;

export interface Circle {
  readonly name: string;
  readonly center: Point;
  readonly points: readonly Point[];
  /** The points counterclockwise, where their order is known. */
  readonly order: readonly Point[] | undefined;
}

export class Figure {
  readonly points: readonly Point[];
  readonly lines: readonly Line[];
  readonly circles: readonly Circle[];
  /** Convex polygons that were declared, or are faces of the drawing. */
  readonly polygons: readonly (readonly Point[])[];
  readonly orientation: Orientation;
  private readonly neighbors: ReadonlyMap<Point, ReadonlySet<Point>>;
  private readonly lineOf = new Map<string, Line>();
  private readonly rays = new Map<string, readonly Point[]>();

  /** @throws CdlError if the statements contradict themselves or name too many points */
  constructor(statements: readonly Statement[]) {
    const arrangement = arrangementOf(statements);
    this.points = [...arrangement.points].sort();
    if (this.points.length > maxPoints) {
      throw new CdlError(`There are ${this.points.length} points, more than ${maxPoints}.`);
    }
    this.lines = linesOf(arrangement.chains);
    for (const line of this.lines) {
      if (line.isContradictory) {
        throw new CdlError(
          `The points ${[...line.points].join(', ')} follow each other in a circle.`,
        );
      }
      for (const [a, b] of line.pairs()) this.lineOf.set(pairKey(a, b), line);
    }
    this.neighbors = this.neighborsOf(arrangement.joined);
    this.polygons = arrangement.polygons;
    this.orientation = orientationOf(this, statements);
    this.circles = [...arrangement.circles].map(([name, { center, points }]) => ({
      name,
      center,
      points: [...points],
      order: this.circularOrder([...points]),
    }));
  }

  private neighborsOf(
    joined: Iterable<readonly [Point, Point]>,
  ): ReadonlyMap<Point, ReadonlySet<Point>> {
    const neighbors = new Map<Point, Set<Point>>(this.points.map((point) => [point, new Set()]));
    const join = (a: Point, b: Point): void => {
      neighbors.get(a)?.add(b);
      neighbors.get(b)?.add(a);
    };
    for (const [a, b] of joined) join(a, b);
    for (const line of this.lines) for (const [a, b] of line.pairs()) join(a, b);
    return neighbors;
  }

  /** The line through both points, where one with more than two points is known. */
  lineThrough(a: Point, b: Point): Line | undefined {
    return this.lineOf.get(pairKey(a, b));
  }

  areCollinear(a: Point, b: Point, c: Point): boolean {
    return this.lineThrough(a, b)?.points.has(c) === true;
  }

  isBetween(middle: Point, a: Point, b: Point): boolean {
    return this.lineThrough(a, b)?.isBetween(middle, a, b) === true;
  }

  /** Whether a segment between both is drawn, or a radius that could be. */
  areJoined(a: Point, b: Point): boolean {
    return this.neighbors.get(a)?.has(b) === true;
  }

  neighborsAt(point: Point): readonly Point[] {
    return [...(this.neighbors.get(point) ?? [])];
  }

  /** All points known to lie on the ray from `from` through `to`. */
  ray(from: Point, to: Point): readonly Point[] {
    const key = `${from} ${to}`;
    const known = this.rays.get(key);
    if (known !== undefined) return known;
    const ray = this.lineThrough(from, to)?.ray(from, to) ?? [to];
    const sorted = [...ray].sort();
    this.rays.set(key, sorted);
    return sorted;
  }

  /** The points that stand for the rays from a point, one for each. */
  raysAt(vertex: Point): readonly Point[] {
    return [...new Set(this.neighborsAt(vertex).map((to) => this.ray(vertex, to)[0] ?? to))];
  }

  /** All triangles whose sides are drawn, corners in alphabetical order. */
  triangles(): readonly (readonly [Point, Point, Point])[] {
    const found: (readonly [Point, Point, Point])[] = [];
    for (const a of this.points) {
      const later = this.neighborsAt(a)
        .filter((point) => point > a)
        .sort();
      for (const [index, b] of later.entries()) {
        for (const c of later.slice(index + 1)) {
          if (this.areJoined(b, c) && !this.areCollinear(a, b, c)) found.push([a, b, c]);
        }
      }
    }
    return found;
  }

  /** All convex quadrilaterals whose sides are drawn and have no corner of 180°. */
  quadrilaterals(): readonly (readonly [Point, Point, Point, Point])[] {
    const found: (readonly [Point, Point, Point, Point])[] = [];
    for (const a of this.points) {
      const later = this.neighborsAt(a).filter((point) => point > a);
      for (const b of later) {
        for (const d of later) {
          // Only one of the two ways around.
          if (b >= d || this.areCollinear(a, b, d)) continue;
          for (const c of this.neighborsAt(b)) {
            if (c <= a || c === d || !this.areJoined(c, d)) continue;
            if (this.isProper([a, b, c, d])) found.push([a, b, c, d]);
          }
        }
      }
    }
    return found;
  }

  private isProper(corners: readonly [Point, Point, Point, Point]): boolean {
    const [a, b, c, d] = corners;
    const isFlat =
      this.areCollinear(a, b, c) ||
      this.areCollinear(b, c, d) ||
      this.areCollinear(c, d, a) ||
      this.areCollinear(d, a, b);
    return !isFlat && this.orientation.isConvex(corners);
  }

  /** Where two lines through pairs of points meet in a named point. */
  meeting(a: Point, b: Point, c: Point, d: Point): Point | undefined {
    const first = this.lineThrough(a, b)?.points ?? new Set([a, b]);
    const second = this.lineThrough(c, d)?.points ?? new Set([c, d]);
    return [...first].find((point) => second.has(point));
  }

  private circularOrder(points: readonly Point[]): readonly Point[] | undefined {
    const [first, ...others] = points;
    if (first === undefined || others.length === 0) return undefined;
    if (others.length === 1) return points;
    let isKnown = true;
    const sorted = others.toSorted((a, b) => {
      const turn = this.orientation.turn(first, a, b);
      if (turn === 0) isKnown = false;
      return -turn;
    });
    if (!isKnown) return undefined;
    const order = [first, ...sorted];
    return this.orientation.isConvex(order) ? order : undefined;
  }
}

function pairKey(a: Point, b: Point): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
