/** The faces of the straight lines of a drawing, and the corners that no face has. */
import type { Point } from '../cdl/statement.ts';
import { type Drawing, heading, type Position } from './drawing.ts';

type Neighbors = Map<Point, Set<Point>>;

/** The faces that the straight lines of a drawing enclose, and the corners of no face. */
export interface Faces {
  /** Corners counterclockwise, those of 180° among them. */
  readonly faces: readonly (readonly Point[])[];
  /** Neighboring rays at a point that bound no face: from, at, to turn left. */
  readonly corners: readonly (readonly [Point, Point, Point])[];
}

export function facesOf({ points, lines }: Drawing): Faces {
  const all: Neighbors = new Map([...points.keys()].map((point) => [point, new Set()]));
  for (const line of lines) {
    for (const [index, point] of line.entries()) {
      const next = line[index + 1];
      if (next === undefined) continue;
      all.get(point)?.add(next);
      all.get(next)?.add(point);
    }
  }
  const at = (point: Point): Position => points.get(point) ?? { x: 0, y: 0 };
  const enclosing = withoutEnds(all);
  const faces = trace(enclosing, at);
  return { faces, corners: cornersOf(all, faces, at) };
}

/** The graph without points that have one neighbor, again and again. */
function withoutEnds(all: Neighbors): Neighbors {
  const kept: Neighbors = new Map([...all].map(([point, others]) => [point, new Set(others)]));
  const ends = [...kept].filter(([, others]) => others.size === 1).map(([point]) => point);
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    const [only] = kept.get(end) ?? [];
    kept.delete(end);
    if (only === undefined) continue;
    const others = kept.get(only);
    others?.delete(end);
    if (others?.size === 1) ends.push(only);
  }
  return kept;
}

/** Neighbors counterclockwise from the right. */
function around(point: Point, others: Iterable<Point>, at: (point: Point) => Position): Point[] {
  const here = at(point);
  return [...others].sort((a, b) => heading(here, at(a)) - heading(here, at(b)));
}

function trace(graph: Neighbors, at: (point: Point) => Position): readonly (readonly Point[])[] {
  const next = new Map<string, Point>();
  for (const [point, others] of graph) {
    const sorted = around(point, others, at);
    for (const [index, from] of sorted.entries()) {
      // Arriving from `from`, the face on the left goes on along the next ray clockwise.
      const turn = sorted.at(index - 1);
      if (turn !== undefined) next.set(`${from} ${point}`, turn);
    }
  }
  const faces: (readonly Point[])[] = [];
  const seen = new Set<string>();
  for (const start of next.keys()) {
    if (seen.has(start)) continue;
    const face: Point[] = [];
    for (let edge = start; !seen.has(edge); ) {
      seen.add(edge);
      const [, to = ''] = edge.split(' ');
      face.push(to);
      edge = `${to} ${next.get(edge) ?? ''}`;
    }
    const isSimple = new Set(face).size === face.length;
    if (isSimple && face.length > 2 && areaOf(face.map(at)) > 0) faces.push(face);
  }
  return faces;
}

/** Twice the area; positive for counterclockwise corners in an image. */
function areaOf(corners: readonly Position[]): number {
  let total = 0;
  for (const [index, a] of corners.entries()) {
    const b = corners[(index + 1) % corners.length] ?? a;
    total -= a.x * b.y - b.x * a.y;
  }
  return total;
}

/** Pairs of neighboring rays less than half a turn apart that are not two sides of a face. */
function cornersOf(
  graph: Neighbors,
  faces: readonly (readonly Point[])[],
  at: (point: Point) => Position,
): readonly (readonly [Point, Point, Point])[] {
  const inFaces = new Set<string>();
  for (const face of faces) {
    for (const [index, corner] of face.entries()) {
      inFaces.add(`${face.at(index - 1)} ${corner} ${face[(index + 1) % face.length]}`);
    }
  }
  const corners: (readonly [Point, Point, Point])[] = [];
  for (const [point, others] of graph) {
    const sorted = around(point, others, at);
    for (const [index, ray] of sorted.entries()) {
      const after = sorted[(index + 1) % sorted.length];
      if (after === undefined || after === ray) continue;
      const here = at(point);
      const angle = heading(here, at(after)) - heading(here, at(ray));
      const gap = ((angle % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
      if (gap > Math.PI - 0.01 || inFaces.has(`${after} ${point} ${ray}`)) continue;
      corners.push([after, point, ray]);
    }
  }
  return corners;
}
