/** Parallelograms and trapezoids: sides, diagonals, midsegments, and how they are recognized. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, single, sum } from '../measures.ts';
import { addParallel, isParallel } from '../relations.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

type Corners = readonly [Point, Point, Point, Point];

function* bothPairs(corners: Corners): Iterable<Corners> {
  const [a, b, c, d] = corners;
  yield [a, b, c, d];
  yield [b, c, d, a];
}

/** Opposite sides and angles of a parallelogram; its diagonals bisect each other. */
export const parallelograms: Theorem = defineTheorem({
  name: 'properties of a parallelogram',
  level: 1,
  about: ['length', 'angle'],
  apply(knowledge) {
    for (const corners of knowledge.figure.quadrilaterals()) {
      const [a, b, c, d] = corners;
      const first = isParallel(knowledge, [a, b], [c, d]);
      const second = isParallel(knowledge, [b, c], [d, a]);
      if (first !== undefined && second !== undefined) {
        addProperties(knowledge, corners, [first, second]);
      }
    }
  },
});

function addProperties(knowledge: Knowledge, corners: Corners, premises: readonly number[]): void {
  const { measures, figure } = knowledge;
  const name = `parallelogram ${corners.join('')}`;
  for (const [a, b, c, d] of bothPairs(corners)) {
    const sides = sum([single(measures.length(a, b)), 1], [single(measures.length(c, d)), -1]);
    knowledge.addSum(sides, `opposite sides of ${name}`, premises);
    const angles = sum([measures.angle(d, a, b), 1], [measures.angle(b, c, d), -1]);
    knowledge.addSum(angles, `opposite angles of ${name}`, premises);
    const center = figure.meeting(a, c, b, d);
    if (center === undefined || !figure.isBetween(center, a, c)) continue;
    const halves = sum(
      [single(measures.length(a, center)), 1],
      [single(measures.length(center, c)), -1],
    );
    knowledge.addSum(halves, `diagonals of ${name} bisect each other`, premises);
  }
}

/** Two equal and parallel sides, or two pairs of equal sides, or diagonals that bisect each other. */
export const parallelogramFromSides: Theorem = defineTheorem({
  name: 'parallelogram from its sides or diagonals',
  level: 2,
  about: ['relation'],
  apply(knowledge) {
    for (const corners of knowledge.figure.quadrilaterals()) {
      const [a, b, c, d] = corners;
      const premises = isParallelogram(knowledge, corners);
      if (premises === undefined) continue;
      const reason = `${corners.join('')} is a parallelogram`;
      addParallel(knowledge, [a, b], [d, c], reason, premises);
      addParallel(knowledge, [b, c], [a, d], reason, premises);
    }
  },
});

function isParallelogram(knowledge: Knowledge, corners: Corners): readonly number[] | undefined {
  const { figure } = knowledge;
  const equal = (a: Point, b: Point, c: Point, d: Point): readonly number[] | undefined => {
    const { measures } = knowledge;
    return knowledge.equal(single(measures.length(a, b)), single(measures.length(c, d)));
  };
  const [a, b, c, d] = corners;
  const [first, second] = [equal(a, b, c, d), equal(b, c, d, a)];
  if (first !== undefined && second !== undefined) return [...first, ...second];
  for (const [p, q, r, s] of bothPairs(corners)) {
    const sides = equal(p, q, r, s);
    const parallel = isParallel(knowledge, [p, q], [r, s]);
    if (sides !== undefined && parallel !== undefined) return [...sides, parallel];
  }
  const center = figure.meeting(a, c, b, d);
  if (center === undefined || !figure.isBetween(center, a, c)) return undefined;
  const [one, two] = [equal(a, center, center, c), equal(b, center, center, d)];
  return one !== undefined && two !== undefined ? [...one, ...two] : undefined;
}

/** The midsegment of a trapezoid is parallel to its bases and half as long as both. */
export const midsegment: Theorem = defineTheorem({
  name: 'midsegment of a trapezoid',
  level: 2,
  about: ['length', 'relation'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const corners of figure.quadrilaterals()) {
      for (const [a, b, c, d] of bothPairs(corners)) {
        const parallel = isParallel(knowledge, [a, d], [b, c]);
        if (parallel === undefined) continue;
        for (const [e, onFirst] of midpoints(knowledge, a, b)) {
          for (const [f, onSecond] of midpoints(knowledge, d, c)) {
            if (!figure.areJoined(e, f)) continue;
            const premises = [parallel, ...onFirst, ...onSecond];
            const reason = `midsegment of trapezoid ${corners.join('')}`;
            const lengths = sum(
              [single(measures.length(e, f)), 2],
              [single(measures.length(a, d)), -1],
              [single(measures.length(b, c)), -1],
            );
            knowledge.addSum(lengths, reason, premises);
            addParallel(knowledge, [e, f], [a, d], reason, premises);
            addParallel(knowledge, [e, f], [b, c], reason, premises);
          }
        }
      }
    }
  },
});

function* midpoints(
  knowledge: Knowledge,
  a: Point,
  b: Point,
): Iterable<readonly [Point, readonly number[]]> {
  const { figure, measures } = knowledge;
  for (const m of figure.lineThrough(a, b)?.points ?? []) {
    if (!figure.isBetween(m, a, b)) continue;
    const halves = [single(measures.length(a, m)), single(measures.length(m, b))] as const;
    const premises = knowledge.equal(...halves);
    if (premises !== undefined) yield [m, premises];
  }
}

/** The diagonals of a kite, so of a rhombus, are perpendicular; those of a rectangle are equal. */
export const diagonals: Theorem = defineTheorem({
  name: 'diagonals of kites and rectangles',
  level: 2,
  about: ['angle', 'length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const corners of figure.quadrilaterals()) {
      for (const [a, b, c, d] of bothPairs(corners)) {
        const center = figure.meeting(a, c, b, d);
        const kite = isKite(knowledge, [a, b, c, d]);
        if (center === undefined || kite === undefined) continue;
        if (!figure.isBetween(center, a, c) || !figure.isBetween(center, b, d)) continue;
        const right = sum([measures.angle(a, center, b), 1], [constant(Real.of(90)), -1]);
        knowledge.addSum(right, `diagonals of kite ${corners.join('')}`, kite);
      }
    }
  },
});

/** Whether the sides at a are equal, and those at c. */
function isKite(knowledge: Knowledge, [a, b, c, d]: Corners): readonly number[] | undefined {
  const length = (p: Point, q: Point) => single(knowledge.measures.length(p, q));
  const first = knowledge.equal(length(a, b), length(a, d));
  const second = knowledge.equal(length(c, b), length(c, d));
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}
