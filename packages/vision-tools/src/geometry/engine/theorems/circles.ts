/** Radii, arcs, and the angles at a circle: central, inscribed, at a tangent, between chords and secants. */
import { Fraction } from 'fraction.js';
import type { Point } from '../../cdl/statement.ts';
import type { Circle } from '../../figure/figure.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, type Linear, single, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

const half = new Fraction(1, 2);

export const radii: Theorem = defineTheorem({
  name: 'radii of a circle are equal',
  level: 1,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { name, center, points } of figure.circles) {
      for (const point of points) {
        const radius = single(measures.radius(name));
        const difference = sum([single(measures.length(center, point)), 1], [radius, -1]);
        knowledge.addSum(difference, `radius of circle ${name}`);
      }
    }
  },
});

/** The arcs of a circle add up to 360°; a minor arc has the measure of its central angle. */
export const arcs: Theorem = defineTheorem({
  name: 'arcs and central angles',
  level: 1,
  about: ['arc', 'angle'],
  apply(knowledge) {
    for (const circle of knowledge.figure.circles) {
      const { order, center } = circle;
      const [first] = order ?? [];
      if (order === undefined || first === undefined) continue;
      const all = order.map((point, index) => {
        const next = order[(index + 1) % order.length] ?? first;
        return [knowledge.measures.arc(circle, point, next) ?? constant(Real.zero), 1] as const;
      });
      const whole = sum(...all, [constant(Real.of(360)), -1]);
      knowledge.addSum(whole, `arcs of circle ${circle.name}`);
      for (const a of order) {
        for (const b of order) if (a !== b) addCentral(knowledge, circle, a, b, center);
      }
    }
  },
});

function addCentral(knowledge: Knowledge, circle: Circle, a: Point, b: Point, center: Point): void {
  const { figure, measures } = knowledge;
  const arc = measures.arc(circle, a, b);
  if (arc === undefined) return;
  if (figure.isBetween(center, a, b)) {
    knowledge.addSum(sum([arc, 1], [constant(Real.of(180)), -1]), 'arc over a diameter');
    return;
  }
  const value = knowledge.value(arc);
  // An arc is the central angle itself where it is less than half the circle.
  const isMinor =
    figure.orientation.turn(center, a, b) === 1 || (value && value.value.approx < 180);
  if (isMinor !== true) return;
  const premises = value?.premises ?? [];
  const central = measures.angle(a, center, b);
  knowledge.addSum(sum([arc, 1], [central, -1]), 'arc and central angle', premises);
}

/** An inscribed angle is half the arc that it cuts off, which does not contain its vertex. */
export const inscribedAngles: Theorem = defineTheorem({
  name: 'inscribed angle',
  level: 1,
  about: ['angle', 'arc'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const circle of figure.circles) {
      for (const [a, b, c] of orderedTriples(circle)) {
        const arc = measures.arc(circle, a, b);
        if (arc === undefined || !figure.areJoined(a, c) || !figure.areJoined(b, c)) continue;
        const difference = sum([measures.angle(a, c, b), 1], [arc, half.neg()]);
        knowledge.addSum(difference, 'inscribed angle');
      }
    }
  },
});

/** Triples of points in counterclockwise order, so that the arc from a to b does not contain c. */
function* orderedTriples({ order = [] }: Circle): Iterable<readonly [Point, Point, Point]> {
  for (const [i, a] of order.entries()) {
    for (let toB = 1; toB < order.length; toB++) {
      for (let toC = toB + 1; toC < order.length; toC++) {
        const b = order[(i + toB) % order.length];
        const c = order[(i + toC) % order.length];
        if (b !== undefined && c !== undefined) yield [a, b, c];
      }
    }
  }
}

/** Inscribed and central angles where the order of the points is not known but their sides are. */
export const anglesOverChord: Theorem = defineTheorem({
  name: 'angles over a chord',
  level: 1,
  about: ['angle'],
  apply(knowledge) {
    const { figure } = knowledge;
    for (const { points, order, center } of figure.circles) {
      for (const a of points) {
        for (const b of points) {
          if (a >= b) continue;
          if (figure.isBetween(center, a, b)) addThales(knowledge, a, b, points);
          else if (order === undefined) addOverChord(knowledge, a, b, points, center);
        }
      }
    }
  },
});

function addThales(knowledge: Knowledge, a: Point, b: Point, points: readonly Point[]): void {
  for (const c of points) {
    if (c === a || c === b || !joins(knowledge, c, a, b)) continue;
    const right = sum([knowledge.measures.angle(a, c, b), 1], [constant(Real.of(90)), -1]);
    knowledge.addSum(right, 'angle in a semicircle');
  }
}

function joins({ figure }: Knowledge, c: Point, a: Point, b: Point): boolean {
  return figure.areJoined(a, c) && figure.areJoined(b, c);
}

function addOverChord(
  knowledge: Knowledge,
  a: Point,
  b: Point,
  points: readonly Point[],
  center: Point,
): void {
  const { figure, measures } = knowledge;
  const central = measures.angle(a, center, b);
  for (const c of points) {
    if (c === a || c === b || !joins(knowledge, c, a, b)) continue;
    const side = figure.orientation.side(a, b, c, center);
    const inscribed = measures.angle(a, c, b);
    if (side === 1) {
      knowledge.addSum(sum([inscribed, 1], [central, half.neg()]), 'inscribed angle');
    } else if (side === -1) {
      const parts = sum([inscribed, 1], [central, half], [constant(Real.of(180)), -1]);
      knowledge.addSum(parts, 'inscribed angle');
    }
    for (const d of points) {
      if (d <= c || d === a || d === b || !joins(knowledge, d, a, b)) continue;
      addSameArc(knowledge, [a, b], c, d);
    }
  }
}

function addSameArc(
  knowledge: Knowledge,
  [a, b]: readonly [Point, Point],
  c: Point,
  d: Point,
): void {
  const { figure, measures } = knowledge;
  const [first, second] = [measures.angle(a, c, b), measures.angle(a, d, b)];
  const side = figure.orientation.side(a, b, c, d);
  if (side === 1) knowledge.addSum(sum([first, 1], [second, -1]), 'inscribed angles over one arc');
  if (side === -1) {
    const both = sum([first, 1], [second, 1], [constant(Real.of(180)), -1]);
    knowledge.addSum(both, 'opposite angles of a cyclic quadrilateral');
  }
}

/** The angle between a tangent and a chord is half the arc between them. */
export const tangentChord: Theorem = defineTheorem({
  name: 'angle between tangent and chord',
  level: 2,
  about: ['angle', 'arc'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { said, id } of knowledge.factsOf('tangent')) {
      const [[p, a] = [], [name] = []] = said.groups;
      const circle = figure.circles.find((one) => one.name === name);
      if (p === undefined || a === undefined || circle === undefined) continue;
      for (const b of circle.points) {
        if (b === a || !figure.areJoined(a, b)) continue;
        const angle = measures.angle(p, a, b);
        const arc = arcToward(knowledge, circle, p, a, b);
        if (arc === undefined) continue;
        knowledge.addSum(sum([angle, 1], [arc, half.neg()]), 'angle between tangent and chord', [
          id,
        ]);
      }
    }
  },
});

/** The arc between a and b on the side of the chord where p lies. */
function arcToward(
  { figure, measures }: Knowledge,
  circle: Circle,
  p: Point,
  a: Point,
  b: Point,
): Linear | undefined {
  // Left of the chord from a to b the circle runs counterclockwise from b to a.
  const turn = figure.orientation.turn(a, b, p);
  if (turn === 0) return undefined;
  return turn === 1 ? measures.arc(circle, b, a) : measures.arc(circle, a, b);
}

/** Chords that cross inside the circle, and secants that meet outside. */
export const chordsAndSecants: Theorem = defineTheorem({
  name: 'angle between chords or secants',
  level: 2,
  about: ['angle', 'arc'],
  apply(knowledge) {
    for (const circle of knowledge.figure.circles) {
      for (const crossing of crossings(knowledge, circle)) addCrossing(knowledge, circle, crossing);
    }
  },
});

export interface ChordCrossing {
  readonly at: Point;
  /** The chord or secant through a and b, with a nearer to the crossing if it lies outside. */
  readonly a: Point;
  readonly b: Point;
  readonly c: Point;
  readonly d: Point;
  readonly isInside: boolean;
}

/** Pairs of lines through two points of a circle that meet in a named point beside it. */
export function* crossings({ figure }: Knowledge, circle: Circle): Iterable<ChordCrossing> {
  for (const at of figure.points) {
    if (circle.points.includes(at)) continue;
    const chords = chordsThrough(figure, circle, at);
    for (const [index, [a, b, isInside]] of chords.entries()) {
      for (const [c, d] of chords.slice(index + 1)) yield { at, a, b, c, d, isInside };
    }
  }
}

function chordsThrough(
  figure: Knowledge['figure'],
  { points }: Circle,
  at: Point,
): readonly (readonly [Point, Point, boolean])[] {
  const found: (readonly [Point, Point, boolean])[] = [];
  for (const a of points) {
    for (const b of points) {
      if (a === b) continue;
      if (a < b && figure.isBetween(at, a, b)) found.push([a, b, true]);
      if (figure.isBetween(a, at, b)) found.push([a, b, false]);
    }
  }
  return found;
}

function addCrossing(knowledge: Knowledge, circle: Circle, crossing: ChordCrossing): void {
  const { figure, measures } = knowledge;
  const { at, a, b, c, d, isInside } = crossing;
  const turn = figure.orientation.turn(at, a, c);
  if (turn === 0) return;
  // Names so that the angle runs counterclockwise from a to c.
  const [p, q, r, s] = turn === 1 ? [a, b, c, d] : [c, d, a, b];
  const near = measures.arc(circle, p, r);
  if (near === undefined) return;
  const angle = measures.angle(p, at, r);
  if (isInside) {
    const far = measures.arc(circle, q, s);
    if (far === undefined) return;
    knowledge.addSum(sum([angle, 2], [near, -1], [far, -1]), 'angle between chords');
    return;
  }
  // Outside the arc between the near points runs clockwise as seen from the circle.
  const [far, inner] = [measures.arc(circle, q, s), measures.arc(circle, r, p)];
  if (far === undefined || inner === undefined) return;
  knowledge.addSum(sum([angle, 2], [far, -1], [inner, 1]), 'angle between secants');
}
