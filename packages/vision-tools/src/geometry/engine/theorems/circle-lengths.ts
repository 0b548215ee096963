/** Lengths at a circle: chords and secants that meet, tangents, chords and the center. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, single, sum } from '../measures.ts';
import { isPerpendicular } from '../relations.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';
import { crossings } from './circles.ts';

/** PA·PB = PC·PD for chords and secants through P; PT² for a tangent. */
export const powerOfPoint: Theorem = defineTheorem({
  name: 'power of a point',
  level: 2,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const circle of figure.circles) {
      for (const { at, a, b, c, d } of crossings(knowledge, circle)) {
        const [pa, pb, pc, pd] = [a, b, c, d].map((point) => measures.length(at, point));
        if (pa === undefined || pb === undefined || pc === undefined || pd === undefined) continue;
        addProducts(knowledge, [pa, pb], [pc, pd], 'intersecting chords or secants', []);
      }
    }
    addTangentSecants(knowledge);
  },
});

function addProducts(
  knowledge: Knowledge,
  first: readonly [number, number],
  second: readonly [number, number],
  reason: string,
  premises: readonly number[],
): void {
  const powers = [...first.map((id) => [id, 1] as const), ...second.map((id) => [id, -1] as const)];
  knowledge.addRatio(powers, Real.one, reason, premises);
  knowledge.addProportion(first, second, reason, premises);
}

function addTangentSecants(knowledge: Knowledge): void {
  const { figure, measures } = knowledge;
  for (const { said, id } of knowledge.factsOf('tangent')) {
    const [[p, t] = [], [name] = []] = said.groups;
    const circle = figure.circles.find((one) => one.name === name);
    if (p === undefined || t === undefined || circle === undefined) continue;
    const tangent = measures.length(p, t);
    for (const a of circle.points) {
      for (const b of circle.points) {
        if (a === b || !figure.isBetween(a, p, b)) continue;
        const secant = [measures.length(p, a), measures.length(p, b)] as const;
        addProducts(knowledge, [tangent, tangent], secant, 'tangent and secant', [id]);
      }
    }
  }
}

/** Both tangents from a point are equally long, and its line to the center halves their angle. */
export const twoTangents: Theorem = defineTheorem({
  name: 'tangents from one point',
  level: 1,
  about: ['length', 'angle'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    const tangents = knowledge.factsOf('tangent');
    for (const [index, first] of tangents.entries()) {
      for (const second of tangents.slice(index + 1)) {
        const [[, a] = [], [circle] = []] = first.said.groups;
        const [[, b] = [], [other] = []] = second.said.groups;
        if (a === undefined || b === undefined || circle !== other || a === b) continue;
        const p = meeting(knowledge, first.said.groups[0], second.said.groups[0]);
        if (p === undefined) continue;
        const premises = [first.id, second.id];
        const lengths = sum(
          [single(measures.length(p, a)), 1],
          [single(measures.length(p, b)), -1],
        );
        knowledge.addSum(lengths, 'tangents from one point', premises);
        const center = figure.circles.find(({ name }) => name === circle)?.center;
        if (center === undefined || !figure.areJoined(p, center)) continue;
        const halves = sum([measures.angle(a, p, center), 1], [measures.angle(center, p, b), -1]);
        knowledge.addSum(halves, 'tangents from one point', premises);
      }
    }
  },
});

function meeting(
  { figure }: Knowledge,
  first: readonly Point[] = [],
  second: readonly Point[] = [],
): Point | undefined {
  const [[p, a], [q, b]] = [first, second];
  if (p === undefined || a === undefined || q === undefined || b === undefined) return undefined;
  const point = figure.meeting(p, a, q, b);
  return point === a || point === b ? undefined : point;
}

/** A line through the center halves a chord if it is perpendicular to it, and the other way around. */
export const chordBisection: Theorem = defineTheorem({
  name: 'chord and center',
  level: 2,
  about: ['length', 'angle'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { center, points } of figure.circles) {
      for (const a of points) {
        for (const b of points) {
          if (a >= b || figure.isBetween(center, a, b)) continue;
          for (const m of figure.lineThrough(a, b)?.points ?? []) {
            if (!figure.isBetween(m, a, b) || !figure.areJoined(m, center)) continue;
            const halves = [single(measures.length(a, m)), single(measures.length(m, b))] as const;
            const right = isPerpendicular(knowledge, [a, b], [center, m]);
            if (right !== undefined) {
              const difference = sum([halves[0], 1], [halves[1], -1]);
              knowledge.addSum(difference, 'perpendicular from the center', right.premises);
            }
            const equal = knowledge.equal(...halves);
            if (equal === undefined) continue;
            const angle = sum([measures.angle(a, m, center), 1], [constant(Real.of(90)), -1]);
            knowledge.addSum(angle, 'line from the center to the middle of a chord', equal);
          }
        }
      }
    }
  },
});

/** A circle inscribed in a polygon touches each side: its center is on the bisectors of all corners. */
export const incircle: Theorem = defineTheorem({
  name: 'inscribed circle',
  level: 2,
  about: ['angle', 'length', 'area'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { said, id } of knowledge.factsOf('circumscribed')) {
      const [corners = [], [name = ''] = []] = said.groups;
      const center = figure.circles.find((one) => one.name === name)?.center;
      if (center === undefined) continue;
      for (const [index, corner] of corners.entries()) {
        const [before, after] = [corners.at(index - 1), corners[(index + 1) % corners.length]];
        if (before === undefined || after === undefined || !figure.areJoined(corner, center))
          continue;
        const halves = sum(
          [measures.angle(before, corner, center), 1],
          [measures.angle(center, corner, after), -1],
        );
        knowledge.addSum(halves, 'center of the inscribed circle', [id]);
      }
      addTangentSides(knowledge, corners, name, id);
    }
  },
});

/** Opposite sides of a quadrilateral around a circle add up to the same; area = r·perimeter / 2. */
function addTangentSides(
  knowledge: Knowledge,
  corners: readonly Point[],
  circle: string,
  step: number,
): void {
  const { measures } = knowledge;
  const [a, b, c, d] = corners;
  if (corners.length === 4 && a && b && c && d) {
    const sides = sum(
      [single(measures.length(a, b)), 1],
      [single(measures.length(c, d)), 1],
      [single(measures.length(b, c)), -1],
      [single(measures.length(d, a)), -1],
    );
    knowledge.addSum(sides, 'quadrilateral around a circle', [step]);
  }
  const area = measures.measure('area', corners);
  const perimeter = measures.measure('perimeter', corners);
  const powers = [
    [area, 1],
    [perimeter, -1],
    [measures.radius(circle), -1],
  ] as const;
  knowledge.addRatio(powers, Real.of('0.5'), 'area of a polygon around a circle', [step]);
}
