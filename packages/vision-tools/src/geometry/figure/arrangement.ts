/** Collects from statements the points, the chains on lines, the circles, the polygons and what is joined. */
import type {
  Expression,
  Point,
  Quantity,
  Relation,
  RelationName,
  Statement,
} from '../cdl/statement.ts';

export interface Arrangement {
  readonly points: Set<Point>;
  /** Points in the order in which they lie on a line; three or more. */
  readonly chains: (readonly Point[])[];
  readonly circles: Map<string, { center: Point; readonly points: Set<Point> }>;
  /** Convex, corners without those of 180°. */
  readonly polygons: (readonly Point[])[];
  readonly joined: (readonly [Point, Point])[];
}

export function arrangementOf(statements: readonly Statement[]): Arrangement {
  const arrangement: Arrangement = {
    points: new Set(),
    chains: [],
    circles: new Map(),
    polygons: [],
    joined: [],
  };
  for (const statement of statements) {
    if (statement.kind === 'relation' && statement.name === 'IsCentreOfCircle') {
      const [[center] = [], [name] = []] = statement.groups;
      if (center !== undefined && name !== undefined) circleOf(arrangement, name).center = center;
    }
  }
  for (const statement of statements) {
    if (statement.kind === 'relation') addRelation(arrangement, statement);
    else for (const side of [statement.left, statement.right]) addExpression(arrangement, side);
  }
  for (const { center, points } of arrangement.circles.values()) {
    arrangement.points.add(center);
    for (const point of points) {
      arrangement.points.add(point);
      join(arrangement, center, point);
    }
  }
  return arrangement;
}

function circleOf(
  { circles }: Arrangement,
  name: string,
): { center: Point; readonly points: Set<Point> } {
  const known = circles.get(name);
  if (known !== undefined) return known;
  // A circle is called after its center unless that is said to be another point.
  const circle = { center: name, points: new Set<Point>() };
  circles.set(name, circle);
  return circle;
}

function join(arrangement: Arrangement, a: Point | undefined, b: Point | undefined): void {
  if (a === undefined || b === undefined || a === b) return;
  arrangement.points.add(a).add(b);
  arrangement.joined.push([a, b]);
}

function joinAround(arrangement: Arrangement, corners: readonly Point[]): void {
  for (const [index, corner] of corners.entries()) {
    join(arrangement, corner, corners[(index + 1) % corners.length]);
  }
}

function chain(arrangement: Arrangement, ...points: readonly (Point | undefined)[]): void {
  const known = points.filter((point) => point !== undefined);
  for (const point of known) arrangement.points.add(point);
  if (known.length === points.length && new Set(known).size === known.length) {
    arrangement.chains.push(known);
  }
}

type Add = (
  arrangement: Arrangement,
  first: readonly Point[],
  second: readonly Point[],
  groups: readonly (readonly Point[])[],
) => void;

/** Relations whose groups are more than segments and polygons. */
const special: Partial<Record<RelationName, Add>> = {
  Shape: (arrangement, _first, _second, groups) => addShape(arrangement, groups),
  Collinear: (arrangement, first) => chain(arrangement, ...first),
  Cocircular: (arrangement, [name], points) => addToCircle(arrangement, name, points),
  IsDiameterOfCircle: (arrangement, first, [name]) => {
    addToCircle(arrangement, name, first);
    const center = name === undefined ? undefined : circleOf(arrangement, name).center;
    chain(arrangement, first[0], center, first[1]);
  },
  IsTangentOfCircle: (arrangement, [a, b], [name]) => {
    join(arrangement, a, b);
    addToCircle(arrangement, name, b === undefined ? [] : [b]);
  },
  IsInscribedInCircle: (arrangement, corners, [name]) => {
    addPolygon(arrangement, corners);
    addToCircle(arrangement, name, corners);
  },
  IsCircumscribedToCircle: (arrangement, corners, [name]) => {
    addPolygon(arrangement, corners);
    addToCircle(arrangement, name, []);
  },
  IsMidpointOfArc: (arrangement, middle, [name, ...ends]) =>
    addToCircle(arrangement, name, [...middle, ...ends]),
  IsCentreOfCircle() {},
  Reflex() {},
};

function addRelation(arrangement: Arrangement, { name, groups }: Relation): void {
  const [first = [], second = []] = groups;
  const add = special[name];
  if (add !== undefined) {
    add(arrangement, first, second, groups);
    return;
  }
  for (const group of groups) addGroup(arrangement, group);
  addImplied(arrangement, name, first, second);
}

/** A group of two is a segment, a longer one goes around a polygon. */
function addGroup(arrangement: Arrangement, group: readonly Point[]): void {
  for (const point of group) arrangement.points.add(point);
  if (group.length === 2) join(arrangement, group[0], group[1]);
  if (group.length > 2) addPolygon(arrangement, group);
}

function addPolygon(arrangement: Arrangement, corners: readonly Point[]): void {
  joinAround(arrangement, corners);
  arrangement.polygons.push(corners);
}

/** Points that a relation puts onto a line. */
function addImplied(
  arrangement: Arrangement,
  name: Relation['name'],
  first: readonly Point[],
  second: readonly Point[],
): void {
  const [a, b] = first;
  const [c, d, e, f] = second;
  if (name === 'IsMidpointOfLine') chain(arrangement, c, a, d);
  if (name === 'IsPerpendicularBisectorOfLine') chain(arrangement, c, b, d);
  if (name === 'IsMedianOfTriangle') chain(arrangement, d, b, e);
  if (name === 'IsMidsegmentOfTriangle') {
    chain(arrangement, c, a, d);
    chain(arrangement, c, b, e);
  }
  if (name === 'IsMidsegmentOfQuadrilateral') {
    chain(arrangement, c, a, d);
    chain(arrangement, f, b, e);
  }
  if (
    name === 'IsIncenterOfTriangle' ||
    name === 'IsCentroidOfTriangle' ||
    name === 'IsCircumcenterOfTriangle' ||
    name === 'IsOrthocenterOfTriangle'
  ) {
    for (const corner of second) join(arrangement, a, corner);
  }
}

/** A face of the drawing, or with two edges a corner; an edge of three letters is an arc. */
function addShape(arrangement: Arrangement, edges: readonly (readonly Point[])[]): void {
  for (const edge of edges) {
    const [a, b, c] = edge;
    if (edge.length === 2) join(arrangement, a, b);
    else if (b !== undefined && c !== undefined) addToCircle(arrangement, a, [b, c]);
  }
}

function addToCircle(
  arrangement: Arrangement,
  name: string | undefined,
  points: readonly Point[],
): void {
  if (name === undefined) return;
  const circle = circleOf(arrangement, name);
  for (const point of points) circle.points.add(point);
}

function addExpression(arrangement: Arrangement, expression: Expression): void {
  if (expression.kind === 'operation') {
    for (const part of expression.of) addExpression(arrangement, part);
  } else if (expression.kind === 'quantity') {
    addQuantity(arrangement, expression);
  }
}

function addQuantity(arrangement: Arrangement, { name, points }: Quantity): void {
  const [a, b, c] = points;
  if (name === 'length') {
    join(arrangement, a, b);
  } else if (name === 'angle') {
    join(arrangement, a, b);
    join(arrangement, b, c);
  } else if (name === 'area' || name === 'perimeter' || name === 'height') {
    addPolygon(arrangement, points);
  } else {
    addToCircle(arrangement, a, points.slice(1));
  }
}

/** The corners of a shape with straight edges; `undefined` if it has arcs or does not close. */
export function cornersOf(edges: readonly (readonly Point[])[]): readonly Point[] | undefined {
  const corners: Point[] = [];
  for (const [index, edge] of edges.entries()) {
    const [from, to, more] = edge;
    const next = edges[(index + 1) % edges.length]?.[0];
    if (from === undefined || more !== undefined || to !== next) return undefined;
    corners.push(from);
  }
  return corners.length >= 3 ? corners : undefined;
}
