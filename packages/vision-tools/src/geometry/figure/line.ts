/** A straight line through named points, with what is known of their order. */
import type { Point } from '../cdl/statement.ts';

export class Line {
  readonly points = new Set<Point>();
  /** For each point, those known to come after it. */
  private readonly after = new Map<Point, Set<Point>>();

  constructor(points: readonly Point[]) {
    this.addChain(points);
  }

  /** Whether `a` comes before `b` in this line's direction, as far as is known. */
  isBefore(a: Point, b: Point): boolean {
    return this.after.get(a)?.has(b) === true;
  }

  /** 1 if `b` comes after `a`, -1 if before, 0 if unknown. */
  direction(a: Point, b: Point): -1 | 0 | 1 {
    return this.isBefore(a, b) ? 1 : this.isBefore(b, a) ? -1 : 0;
  }

  isBetween(middle: Point, a: Point, b: Point): boolean {
    const [first, second] = [this.direction(a, middle), this.direction(middle, b)];
    return first !== 0 && first === second;
  }

  /**
   * The points on the same side of `from` as `to`, as far as is known; `to` is one of them.
   */
  ray(from: Point, to: Point): readonly Point[] {
    const way = this.direction(from, to);
    if (way === 0) return [to];
    return [...this.points].filter((point) => this.direction(from, point) === way);
  }

  /** Points in the order in which they are known to follow one another. */
  addChain(points: readonly Point[]): void {
    for (const point of points) this.points.add(point);
    for (const [index, a] of points.entries()) {
      for (const b of points.slice(index + 1)) this.order(a, b);
    }
  }

  private order(a: Point, b: Point): void {
    if (this.isBefore(a, b)) return;
    const befores = [a, ...[...this.points].filter((point) => this.isBefore(point, a))];
    const afters = [b, ...(this.after.get(b) ?? [])];
    for (const before of befores) {
      const set = this.after.get(before) ?? new Set<Point>();
      for (const after of afters) set.add(after);
      this.after.set(before, set);
    }
  }

  /** Whether the order contradicts itself: something comes before itself. */
  get isContradictory(): boolean {
    return [...this.points].some((point) => this.isBefore(point, point));
  }

  /** All ordered pairs that are known. */
  *pairs(): Iterable<readonly [Point, Point]> {
    for (const [a, afters] of this.after) for (const b of afters) yield [a, b];
  }
}

/** Joins chains that share two points or more into lines. */
export function linesOf(chains: readonly (readonly Point[])[]): readonly Line[] {
  let lines = chains.map((chain) => new Line(chain));
  for (;;) {
    const joined = joinOnce(lines);
    if (joined === undefined) return lines;
    lines = joined;
  }
}

function joinOnce(lines: readonly Line[]): Line[] | undefined {
  for (const [index, line] of lines.entries()) {
    for (const other of lines.slice(index + 1)) {
      const shared = [...line.points].filter((point) => other.points.has(point));
      if (shared.length < 2) continue;
      const way = alignment(line, other, shared);
      if (way === 0) continue;
      for (const point of other.points) line.points.add(point);
      for (const [a, b] of other.pairs()) line.addChain(way === 1 ? [a, b] : [b, a]);
      return lines.filter((kept) => kept !== other);
    }
  }
  return undefined;
}

/** 1 if both lines have the same direction, -1 if opposite ones, 0 if that is unknown. */
function alignment(line: Line, other: Line, shared: readonly Point[]): -1 | 0 | 1 {
  for (const a of shared) {
    for (const b of shared) {
      const [first, second] = [line.direction(a, b), other.direction(a, b)];
      if (first !== 0 && second !== 0) return first === second ? 1 : -1;
    }
  }
  return 0;
}
