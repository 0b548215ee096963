/** Puts into an orientation what statements say about sides: faces, lines, circles, parallels, bisectors. */
import type { Point, Relation, Statement } from '../cdl/statement.ts';
import { cornersOf } from './arrangement.ts';
import type { Line } from './line.ts';
import { Orientation, triples } from './orientation.ts';

/** The parts of a figure that must be there before its orientation is. */
interface Drawn {
  readonly points: readonly Point[];
  readonly lines: readonly Line[];
  readonly polygons: readonly (readonly Point[])[];
  areCollinear(a: Point, b: Point, c: Point): boolean;
  lineThrough(a: Point, b: Point): Line | undefined;
}

type Triple = readonly [Point, Point, Point];

export function orientationOf(figure: Drawn, statements: readonly Statement[]): Orientation {
  const orientation = new Orientation();
  addLines(figure, orientation);
  const relations = statements.filter((statement) => statement.kind === 'relation');
  const reflex = new Set(
    relations.filter(({ name }) => name === 'Reflex').map(({ groups }) => groups.flat().join(' ')),
  );
  for (const { name, groups } of relations) {
    if (name === 'Cocircular') addCircle(orientation, groups[1] ?? []);
  }
  addShapes(figure, orientation, relations, reflex);
  for (const polygon of figure.polygons) addConvex(figure, orientation, polygon);
  for (const relation of relations) addRelation(figure, orientation, relation);
  addTangents(figure, orientation, relations);
  for (const relation of relations) addDirection(figure, orientation, relation);
  anchor(figure, orientation, relations);
  return orientation;
}

/** Where nothing says which way is left, the mirror image is as good: one polygon or circle decides. */
function anchor(figure: Drawn, orientation: Orientation, relations: readonly Relation[]): void {
  if (orientation.hasLeft) return;
  const inscribed = relations.find(({ name }) => name === 'IsInscribedInCircle');
  const [a, b, c] = inscribed?.groups[0] ?? figure.polygons[0] ?? [];
  if (a === undefined || b === undefined || c === undefined) return;
  if (!figure.areCollinear(a, b, c)) orientation.setLeft(a, b, c);
}

/** All pairs of points of a line turn the same way toward a point beside it. */
function addLines({ lines, points }: Drawn, orientation: Orientation): void {
  for (const line of lines) {
    const [first, ...pairs] = line.pairs();
    if (first === undefined) continue;
    for (const beside of points) {
      if (line.points.has(beside)) continue;
      for (const [a, b] of pairs) {
        const sign = line.direction(a, b) === line.direction(...first);
        const pair: Triple = sign ? [a, b, beside] : [b, a, beside];
        orientation.setSame([...first, beside], pair);
      }
    }
  }
}

/** The left turns that a face or corner claims: it has its inside on the left. */
interface Claim {
  readonly turns: readonly Triple[];
  /** Whether nothing else decides: it has three corners, or says which of its corners are reflex. */
  readonly isCertain: boolean;
}

/**
 * FormalGeo marks no reflex corners, so that a face with more than three corners may be concave. Two
 * faces that cannot both be convex then show that one of them is not: neither is believed.
 */
function addShapes(
  figure: Drawn,
  orientation: Orientation,
  relations: readonly Relation[],
  reflex: ReadonlySet<string>,
): void {
  const claims = relations
    .filter(({ name }) => name === 'Shape')
    .map(({ groups }) => claimOf(figure, groups, reflex));
  for (const { turns, isCertain } of claims) {
    if (isCertain) for (const triple of turns) orientation.setLeft(...triple);
  }
  const open = claims.filter(
    ({ turns, isCertain }) =>
      !isCertain && turns.every((triple) => orientation.turn(...triple) !== -1),
  );
  const claimed = new Map<string, Set<number>>();
  for (const { turns } of open) {
    for (const triple of turns) {
      const { key, turn } = orientation.classOf(...triple);
      claimed.set(key, (claimed.get(key) ?? new Set()).add(turn));
    }
  }
  for (const { turns } of open) {
    const keys = turns.map((triple) => orientation.classOf(...triple).key);
    if (keys.some((key) => claimed.get(key)?.size === 2)) continue;
    for (const triple of turns) orientation.setLeft(...triple);
  }
}

function claimOf(
  figure: Drawn,
  edges: readonly (readonly Point[])[],
  reflex: ReadonlySet<string>,
): Claim {
  const around: Triple[] = [];
  for (const [index, edge] of edges.entries()) {
    const next = edges[(index + 1) % edges.length];
    const [a, b, c] = [edge[0], edge[1], next?.[1]];
    const isCorner = edge.length === 2 && next?.length === 2 && next[0] === b;
    if (!isCorner || a === undefined || b === undefined || c === undefined || a === c) continue;
    if (!figure.areCollinear(a, b, c)) around.push([a, b, c]);
  }
  const isMarked = around.some((triple) => reflex.has(triple.join(' ')));
  const turns = around.map((triple): Triple => {
    const [a, b, c] = triple;
    return reflex.has(triple.join(' ')) ? [c, b, a] : triple;
  });
  const corners = cornersOf(edges);
  if (isMarked || corners === undefined) {
    // A corner of two edges is certain; one beside an arc may be that of a large sector.
    return { turns, isCertain: isMarked || edges.every((edge) => edge.length === 2) };
  }
  const all = triples(corners).filter((triple) => !figure.areCollinear(...triple));
  return { turns: all, isCertain: around.length === 3 };
}

function addCircle(orientation: Orientation, points: readonly Point[]): void {
  for (const [a, b, c] of triples(points)) orientation.setLeft(a, b, c);
}

function addConvex(figure: Drawn, orientation: Orientation, corners: readonly Point[]): void {
  const all = triples(corners).filter((triple) => !figure.areCollinear(...triple));
  const [first, ...others] = all;
  if (first === undefined) return;
  if (others.some((triple) => orientation.compare(first, triple) === -1)) return;
  for (const triple of others) orientation.setSame(first, triple);
}

function addRelation(
  figure: Drawn,
  orientation: Orientation,
  { name, groups: [first = [], second = []] }: Relation,
): void {
  const [a, b] = first;
  const [c, d, e] = second;
  if (a === undefined || c === undefined) return;
  if (name === 'ParallelBetweenLine' && b !== undefined && d !== undefined) {
    sameSide(figure, orientation, [a, b], c, d);
    sameSide(figure, orientation, [c, d], a, b);
  }
  if (d === undefined || e === undefined) return;
  // The bisector BD runs inside the angle ABC.
  if (name === 'IsBisectorOfAngle' && b !== undefined) {
    const inner = a === d ? b : a;
    sameSide(figure, orientation, [d, c], inner, e);
    sameSide(figure, orientation, [d, e], inner, c);
  }
  if (name === 'IsIncenterOfTriangle' || name === 'IsCentroidOfTriangle') {
    sameSide(figure, orientation, [c, d], a, e);
    sameSide(figure, orientation, [d, e], a, c);
    sameSide(figure, orientation, [e, c], a, d);
  }
}

function sameSide(
  figure: Drawn,
  orientation: Orientation,
  [a, b]: readonly [Point, Point],
  c: Point,
  d: Point,
): void {
  if (new Set([a, b, c, d]).size < 4) return;
  if (figure.areCollinear(a, b, c) || figure.areCollinear(a, b, d)) return;
  orientation.setSame([a, b, c], [a, b, d]);
}

/** A circle lies on one side of its tangent. */
function addTangents(
  figure: Drawn,
  orientation: Orientation,
  relations: readonly Relation[],
): void {
  for (const { name, groups } of relations) {
    if (name !== 'IsTangentOfCircle') continue;
    const [[outside, touching] = [], [circle] = []] = groups;
    if (outside === undefined || touching === undefined || circle === undefined) continue;
    const [first, ...others] = onCircle(relations, circle).filter(
      (point) => point !== touching && point !== outside,
    );
    for (const other of others) {
      if (first !== undefined) sameSide(figure, orientation, [outside, touching], first, other);
    }
  }
}

/** The points that are said to be on a circle, and its center. */
function onCircle(relations: readonly Relation[], circle: string): readonly Point[] {
  const points = new Set<Point>();
  let center = circle;
  for (const { name, groups } of relations) {
    const [first = [], second = []] = groups;
    if (name === 'IsCentreOfCircle' && second[0] === circle) center = first[0] ?? circle;
    if (name === 'Cocircular' && first[0] === circle) for (const point of second) points.add(point);
    if (name === 'IsDiameterOfCircle' && second[0] === circle) {
      for (const point of first) points.add(point);
    }
    if (name === 'IsTangentOfCircle' && second[0] === circle && first[1] !== undefined) {
      points.add(first[1]);
    }
  }
  return [...points, center];
}

/**
 * Parallel lines are written in the same direction. The drawing has precedence, as this is the first
 * thing that is written the wrong way around.
 */
function addDirection(figure: Drawn, orientation: Orientation, { name, groups }: Relation): void {
  const [[a, b] = [], [c, d] = []] = groups;
  if (name !== 'ParallelBetweenLine') return;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return;
  sameSide(figure, orientation, [a, c], b, d);
  sameSide(figure, orientation, [b, d], a, c);
}
