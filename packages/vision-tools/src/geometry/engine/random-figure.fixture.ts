/** Random figures with coordinates, said in statements that are true of them. */
import type { Point, Statement } from '../cdl/statement.ts';
import { equality, quantity, relation } from '../cdl/statement.ts';
import { constructionOf } from '../construction/construction.ts';
import { type DrawnCircle, type Position, turnOf } from '../construction/drawing.ts';
import { Real } from '../numbers/real.ts';
import {
  angleAt,
  around,
  distance,
  footAt,
  meetings,
  minus,
  mix,
  plus,
  scaled,
  turned,
} from './plane.fixture.ts';

export interface RandomFigure {
  readonly points: ReadonlyMap<Point, Position>;
  readonly circles: readonly DrawnCircle[];
  readonly statements: readonly Statement[];
}

const near = 1e-7;
const names = [...'ABCDEFGHJKLMN'];

class Sketch {
  readonly points = new Map<Point, Position>();
  readonly segments: [Point, Point][] = [];
  readonly circles: { name: string; center: Position; radius: number }[] = [];
  readonly relations: Statement[] = [];
  readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  at(point: Point): Position {
    return this.points.get(point) ?? { x: Number.NaN, y: Number.NaN };
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.random() * items.length)] as Item;
  }

  /** Adds a point, or gives the one that is there. */
  add(position: Position): Point {
    for (const [point, other] of this.points) if (distance(position, other) < near) return point;
    const free = names.find((name) => !this.points.has(name)) ?? `P${this.points.size}`;
    this.points.set(free, position);
    return free;
  }

  join(a: Point, b: Point): void {
    if (a !== b) this.segments.push([a, b]);
  }

  polygon(...corners: readonly Point[]): void {
    for (const [index, corner] of corners.entries()) {
      this.join(corner, corners[(index + 1) % corners.length] ?? corner);
    }
  }

  say(...statements: readonly Statement[]): void {
    this.relations.push(...statements);
  }

  segment(): readonly [Point, Point] {
    return this.pick(this.segments);
  }

  somewhere(): Position {
    // A grid now and then, where coincidences are frequent.
    const size = this.random() < 0.5 ? 12 : 1e6;
    return {
      x: (Math.floor(this.random() * size) * 12) / size,
      y: (Math.floor(this.random() * size) * 12) / size,
    };
  }
}

type Construct = (sketch: Sketch) => void;

const line = (s: Sketch, a: Point, b: Point, t: number): Position => mix(s.at(a), s.at(b), t);

const starts: readonly Construct[] = [
  (s) => s.polygon(s.add(s.somewhere()), s.add(s.somewhere()), s.add(s.somewhere())),
  (s) => {
    const [a, b, c] = [s.add(s.somewhere()), s.add(s.somewhere()), s.add(s.somewhere())];
    const d = s.add(plus(s.at(a), minus(s.at(c), s.at(b))));
    s.polygon(a, b, c, d);
    s.say(relation('Parallelogram', [a, b, c, d].join('')));
  },
  (s) => {
    const [a, b] = [s.add(s.somewhere()), s.add(s.somewhere())];
    const across = turned(
      minus(s.at(b), s.at(a)),
      Math.PI / 2,
      s.pick([0.5, 0.75, 1, s.random() + 0.4]),
    );
    const [c, d] = [s.add(plus(s.at(b), across)), s.add(plus(s.at(a), across))];
    s.polygon(a, b, c, d);
    const isSquare = Math.abs(distance(s.at(b), s.at(c)) - distance(s.at(a), s.at(b))) < near;
    s.say(relation(isSquare ? 'Square' : 'Rectangle', [a, b, c, d].join('')));
  },
  (s) => {
    const [a, b] = [s.add(s.somewhere()), s.add(s.somewhere())];
    const side = turned(
      minus(s.at(b), s.at(a)),
      s.pick([1 / 3, 0.25, 0.2 + s.random() / 2]) * Math.PI,
      1,
    );
    const [c, d] = [s.add(plus(s.at(b), side)), s.add(plus(s.at(a), side))];
    s.polygon(a, b, c, d);
    s.say(relation('Rhombus', [a, b, c, d].join('')));
  },
  (s) => {
    const [a, b] = [s.add(s.somewhere()), s.add(s.somewhere())];
    const angle = s.pick([1 / 3, 1 / 6, 0.5, 0.2 + s.random() / 2]) * Math.PI;
    const c = s.add(plus(s.at(a), turned(minus(s.at(b), s.at(a)), angle, 1)));
    s.polygon(a, b, c);
    s.say(relation('IsoscelesTriangle', [a, b, c].join('')));
  },
  (s) => {
    const [a, b] = [s.add(s.somewhere()), s.add(s.somewhere())];
    const c = s.add(plus(s.at(b), turned(minus(s.at(a), s.at(b)), Math.PI / 2, 0.3 + s.random())));
    s.polygon(a, b, c);
    s.say(relation('RightTriangle', [a, b, c].join('')));
  },
  (s) => {
    const [a, b, c] = [s.add(s.somewhere()), s.add(s.somewhere()), s.add(s.somewhere())];
    const d = s.add(
      plus(s.at(a), scaled(minus(s.at(c), s.at(b)), s.pick([0.5, 0.3 + s.random()]))),
    );
    s.polygon(a, b, c, d);
    s.say(relation('Trapezoid', [a, b, c, d].join('')));
  },
  (s) => {
    const count = s.pick([3, 5, 6]);
    const center = s.somewhere();
    const [radius, phase] = [2 + 3 * s.random(), 6 * s.random()];
    const corners = Array.from({ length: count }, (_, index) =>
      s.add(around(center, radius, phase + (2 * Math.PI * index) / count)),
    );
    s.polygon(...corners);
    s.say(relation(count === 3 ? 'EquilateralTriangle' : 'RegularPolygon', corners.join('')));
  },
  circleWithPoints,
  circleWithPoints,
  circleWithPoints,
];

function circleWithPoints(s: Sketch): void {
  const center = s.somewhere();
  const radius = 2 + Math.floor(4 * s.random());
  const count = s.pick([3, 3, 4, 5]);
  const angles = Array.from({ length: count }, () =>
    s.random() < 0.4 ? (Math.floor(s.random() * 24) * Math.PI) / 12 : s.random() * 2 * Math.PI,
  );
  if (s.random() < 0.4) angles[1] = (angles[0] ?? 0) + Math.PI;
  const points = angles.sort((a, b) => a - b).map((angle) => s.add(around(center, radius, angle)));
  const name = s.add(center);
  s.circles.push({ name, center, radius });
  for (const [index, point] of points.entries()) {
    if (s.random() < 0.7) s.join(point, points[(index + 1) % points.length] ?? point);
    if (s.random() < 0.3) s.join(point, s.pick(points));
    if (s.random() < 0.3) s.join(point, name);
  }
}

/** The circle through the corners of a triangle, or the one inside it, with its center. */
function circleAround(s: Sketch): void {
  const [a, b] = s.segment();
  const c = s.pick([...s.points.keys()]);
  const [p, q, r] = [s.at(a), s.at(b), s.at(c)];
  if (s.circles.length > 0 || Math.abs(turnOf(p, q, r)) < 1 || c === a || c === b) return;
  s.polygon(a, b, c);
  if (s.random() < 0.5) {
    const [x, y, z] = [distance(q, r), distance(r, p), distance(p, q)];
    const total = x + y + z;
    const center = plus(plus(scaled(p, x / total), scaled(q, y / total)), scaled(r, z / total));
    const name = s.add(center);
    s.circles.push({ name, center, radius: Math.abs(turnOf(p, q, r)) / total });
    s.say(relation('IsCircumscribedToCircle', a + b + c, name));
    if (s.random() < 0.5) s.join(a, name);
    return;
  }
  const [u, v] = [minus(q, p), minus(r, p)];
  const twice = 2 * (u.x * v.y - u.y * v.x);
  const [uu, vv] = [u.x ** 2 + u.y ** 2, v.x ** 2 + v.y ** 2];
  const center = plus(p, { x: (v.y * uu - u.y * vv) / twice, y: (u.x * vv - v.x * uu) / twice });
  s.circles.push({ name: s.add(center), center, radius: distance(center, p) });
}

const continuations: readonly Construct[] = [
  (s) => {
    const [a, b] = s.segment();
    const m = s.add(line(s, a, b, 0.5));
    s.say(relation('IsMidpointOfLine', m, a + b));
    if (s.random() < 0.7) s.join(m, s.pick([...s.points.keys()]));
  },
  (s) => {
    const [a, b] = s.segment();
    s.join(s.add(line(s, a, b, 0.2 + 0.6 * s.random())), s.pick([...s.points.keys()]));
  },
  (s) => {
    const [a, b] = s.segment();
    const p = s.pick([...s.points.keys()]);
    const t = footAt(s.at(p), s.at(a), s.at(b));
    if (t < 0.05 || t > 0.95 || Math.abs(turnOf(s.at(a), s.at(b), s.at(p))) < 0.5) return;
    const foot = s.add(line(s, a, b, t));
    s.join(p, foot);
    s.say(relation('PerpendicularBetweenLine', p + foot, a + b));
  },
  (s) => {
    // A line through a point of one side of a triangle, parallel to another side.
    const [a, b] = s.segment();
    const c = s.pick([...s.points.keys()]);
    if (c === a || c === b || Math.abs(turnOf(s.at(a), s.at(b), s.at(c))) < 0.5) return;
    const t = s.pick([0.5, 0.2 + 0.6 * s.random()]);
    const [d, e] = [s.add(line(s, a, b, t)), s.add(line(s, a, c, t))];
    s.join(a, c);
    s.join(b, c);
    s.join(d, e);
    s.say(relation('ParallelBetweenLine', d + e, b + c));
  },
  (s) => {
    // The bisector of an angle, up to the opposite side.
    const [a, b] = s.segment();
    const c = s.pick([...s.points.keys()]);
    if (c === a || c === b || Math.abs(turnOf(s.at(a), s.at(b), s.at(c))) < 0.5) return;
    const [left, right] = [distance(s.at(b), s.at(a)), distance(s.at(b), s.at(c))];
    const d = s.add(line(s, a, c, left / (left + right)));
    s.polygon(a, b, c);
    s.join(b, d);
    s.say(relation('IsBisectorOfAngle', b + d, a + b + c));
  },
  (s) => {
    const [a, b] = [s.pick([...s.points.keys()]), s.pick([...s.points.keys()])];
    s.join(a, b);
  },
  (s) => {
    // A tangent to a circle at one of its points.
    const circle = s.circles[0];
    const t = [...s.points.keys()].find(
      (point) =>
        circle !== undefined &&
        Math.abs(distance(s.at(point), circle.center) - circle.radius) < near,
    );
    if (circle === undefined || t === undefined) return;
    const way = turned(minus(s.at(t), circle.center), Math.PI / 2, (s.random() - 0.5) * 3);
    const p = s.add(plus(s.at(t), way));
    s.join(p, t);
    if (s.random() < 0.5) s.join(p, circle.name);
    s.say(relation('IsTangentOfCircle', p + t, circle.name));
  },
  circleAround,
  (s) => {
    // A secant from outside, or a chord through a point inside.
    const circle = s.circles[0];
    if (circle === undefined) return;
    const p = s.pick([...s.points.keys()]);
    for (let count = 0; count < 2; count++) {
      const hits = meetings(s.at(p), s.random() * 2 * Math.PI, circle);
      if (hits.length < 2) continue;
      const [a, b] = hits.map((hit) => s.add(hit));
      if (a !== undefined && b !== undefined) for (const end of [a, b]) s.join(p, end);
    }
  },
];

/**
 * A figure, or undefined where what came out is degenerate: points too close, nearly on a line, or too
 * many.
 */
export function randomFigure(random: () => number): RandomFigure | undefined {
  const sketch = new Sketch(random);
  sketch.pick(starts)(sketch);
  if (sketch.segments.length === 0) return undefined;
  const count = Math.floor(random() * 6);
  for (let step = 0; step < count; step++) sketch.pick(continuations)(sketch);
  nameCrossings(sketch);
  if (sketch.points.size > 11 || !isClear(sketch)) return undefined;
  const isDegenerate = sketch.relations.some(
    (said) =>
      said.kind === 'relation' && said.groups.some((group) => new Set(group).size < group.length),
  );
  const lines = isDegenerate ? undefined : linesOf(sketch);
  if (lines === undefined) return undefined;
  const circles = sketch.circles.map((circle) => ({
    ...circle,
    points: [...sketch.points.keys()].filter(
      (point) => Math.abs(distance(sketch.at(point), circle.center) - circle.radius) < near,
    ),
  }));
  const construction = constructionOf({ points: sketch.points, lines, circles });
  const statements = [...construction, ...sketch.relations];
  return { points: sketch.points, circles, statements: [...statements, ...measures(sketch)] };
}

/** Names every point in which two segments cross. */
function nameCrossings(sketch: Sketch): void {
  for (const [index, [a, b]] of sketch.segments.entries()) {
    for (const [c, d] of sketch.segments.slice(index + 1)) {
      const [p, q, r, s] = [a, b, c, d].map((point) => sketch.at(point));
      if (!p || !q || !r || !s) continue;
      const [one, two] = [turnOf(p, q, r), turnOf(p, q, s)];
      const [three, four] = [turnOf(r, s, p), turnOf(r, s, q)];
      if (one * two >= -near || three * four >= -near) continue;
      sketch.add(mix(p, q, three / (three - four)));
    }
  }
}

/** Points are far apart, and three of them on a line or clearly not. */
function isClear(sketch: Sketch): boolean {
  const all = [...sketch.points.values()];
  for (const [i, a] of all.entries()) {
    if (!Number.isFinite(a.x + a.y)) return false;
    for (const [j, b] of all.entries()) {
      if (j <= i) continue;
      if (distance(a, b) < 0.1) return false;
      for (const c of all.slice(j + 1)) {
        const sine = Math.abs(turnOf(a, b, c)) / (distance(a, b) * distance(b, c));
        const other = Math.abs(turnOf(a, b, c)) / (distance(a, c) * distance(b, c));
        const least = Math.min(sine, other);
        if (least > 1e-9 && least < 0.008) return false;
      }
    }
    for (const { center, radius } of sketch.circles) {
      const off = Math.abs(distance(a, center) - radius);
      if (off > near && off < 0.05) return false;
    }
  }
  return true;
}

/** The straight lines of the drawing, and those that three points happen to make. */
function linesOf(sketch: Sketch): readonly (readonly Point[])[] | undefined {
  const lines = new Map<string, readonly Point[]>();
  const all = [...sketch.points.keys()];
  const add = (a: Point, b: Point, isDrawn: boolean): void => {
    const [from, to] = [sketch.at(a), sketch.at(b)];
    const on = all.filter((point) => Math.abs(turnOf(from, to, sketch.at(point))) < near * 100);
    const along = on.sort(
      (p, q) => footAt(sketch.at(p), from, to) - footAt(sketch.at(q), from, to),
    );
    if (isDrawn || along.length > 2) lines.set([...along].sort().join(), along);
  };
  for (const [a, b] of sketch.segments) add(a, b, true);
  for (const [index, a] of all.entries()) for (const b of all.slice(index + 1)) add(a, b, false);
  return lines.size > 24 ? undefined : [...lines.values()];
}

/** A few true lengths, angles and equalities. */
function measures(sketch: Sketch): readonly Statement[] {
  const said: Statement[] = [];
  const { random } = sketch;
  const number = (value: number) =>
    ({ kind: 'number', value: Real.approximate(value, value * 1e-14) }) as const;
  for (const [a, b] of sketch.segments) {
    if (random() > 0.3) continue;
    said.push(equality(quantity('length', [a, b]), number(distance(sketch.at(a), sketch.at(b)))));
  }
  for (const [a, b] of sketch.segments) {
    const c = sketch.pick(sketch.segments)[1];
    const sine = Math.abs(turnOf(sketch.at(a), sketch.at(b), sketch.at(c)));
    if (random() > 0.15 || sine < 1e-3) continue;
    said.push(
      equality(
        quantity('angle', [a, b, c]),
        number(angleAt(sketch.at(b), sketch.at(a), sketch.at(c))),
      ),
    );
  }
  for (const { name, radius } of sketch.circles) {
    if (random() < 0.4) said.push(equality(quantity('radius', [name]), number(radius)));
  }
  const [a, b, c] = sketch.pick(
    sketch.segments.map(([one, two]) => [one, two, sketch.segments[0]?.[0] ?? one]),
  );
  if (a !== undefined && b !== undefined && c !== undefined && new Set([a, b, c]).size === 3) {
    const [p, q, r] = [sketch.at(a), sketch.at(b), sketch.at(c)];
    const area = Math.abs(turnOf(p, q, r)) / 2;
    if (area > 0.1 && random() < 0.3)
      said.push(equality(quantity('area', [a, b, c]), number(area)));
  }
  return said;
}
