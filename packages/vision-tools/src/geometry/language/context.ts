/** The polygons and circles that a text has named so far, which later words refer to. */
import { CdlError } from '../cdl/errors.ts';
import { type Point, pointsOf } from '../cdl/statement.ts';

const polygonName =
  /(?:△△?|quadrilateral|parallelogram|rectangle|square|rhombus|kite|trapezoid|trapezium|pentagon|hexagon|octagon|polygon)\s+((?:[A-Z][0-9']*){3,})|△((?:[A-Z][0-9']*){3})/g;

export class Context {
  readonly polygons: readonly (readonly Point[])[];
  private readonly circles: readonly string[];

  /** @param text  normalized */
  constructor(text: string) {
    const polygons = [...text.matchAll(polygonName)].map(([, first, second]) =>
      pointsOf(first ?? second ?? ''),
    );
    const subjects = [...text.matchAll(/\b((?:[A-Z][0-9']*){4,})\s+(?:is|has|be)\b/g)];
    for (const [, name = ''] of subjects) polygons.push(pointsOf(name));
    this.polygons = distinct(polygons);
    const circles = [...text.matchAll(/circle ([A-Z][0-9']*)(?![A-Z])/g)].map(
      ([, name = '']) => name,
    );
    this.circles = [...new Set(circles)];
  }

  /** @throws CdlError if the text names no circle, or several */
  get onlyCircle(): string {
    const [circle, ...others] = this.circles;
    if (circle === undefined || others.length > 0) {
      throw new CdlError('It is not clear which circle is meant.');
    }
    return circle;
  }

  get hasCircle(): boolean {
    return this.circles.length === 1;
  }

  /** The angle at a corner, if only one polygon has it. */
  cornerAt(vertex: Point): readonly Point[] | undefined {
    const [polygon, ...others] = this.polygons.filter((corners) => corners.includes(vertex));
    if (polygon === undefined || others.length > 0) return undefined;
    const at = polygon.indexOf(vertex);
    const [before, after] = [polygon.at(at - 1), polygon[(at + 1) % polygon.length]];
    return before === undefined || after === undefined ? undefined : [before, vertex, after];
  }

  /** The only polygon with that many corners. */
  onlyPolygon(count: number): readonly Point[] | undefined {
    const [polygon, ...others] = this.polygons.filter((corners) => corners.length === count);
    return others.length > 0 ? undefined : polygon;
  }
}

function distinct(polygons: readonly (readonly Point[])[]): readonly (readonly Point[])[] {
  const seen = new Map(polygons.map((corners) => [[...corners].sort().join(), corners]));
  return [...seen.values()];
}
