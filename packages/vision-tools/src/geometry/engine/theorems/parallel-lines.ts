/** Angles at a line that crosses two parallel ones, and parallels found from such angles. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, sum } from '../measures.ts';
import { addParallel, isParallel, isPerpendicular } from '../relations.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

/** A point on each of two lines, joined, with a ray on each line. */
interface Crossing {
  readonly p: Point;
  readonly q: Point;
  /** On the line through p, and on the line through q. */
  readonly a: Point;
  readonly b: Point;
  /** Whether a and b lie on the same side of pq. */
  readonly side: 1 | -1;
}

export const parallelLines: Theorem = defineTheorem({
  name: 'angles at parallel lines',
  level: 1,
  about: ['angle'],
  apply(knowledge) {
    for (const crossing of crossings(knowledge)) {
      const { p, q, a, b, side } = crossing;
      const parallel = isParallel(knowledge, [p, a], [q, b]);
      if (parallel === undefined) continue;
      const { at, opposite } = anglesOf(knowledge, crossing);
      const difference =
        side === 1
          ? sum([at, 1], [opposite, 1], [constant(Real.of(180)), -1])
          : sum([at, 1], [opposite, -1]);
      const reason = side === 1 ? 'co-interior angles' : 'alternate angles';
      knowledge.addSum(difference, `${reason} at parallel lines`, [parallel]);
    }
  },
});

export const parallelFromAngles: Theorem = defineTheorem({
  name: 'lines that make equal angles are parallel',
  level: 2,
  about: ['relation'],
  apply(knowledge) {
    for (const crossing of crossings(knowledge)) {
      const { p, q, a, b, side } = crossing;
      if (isParallel(knowledge, [p, a], [q, b]) !== undefined) continue;
      const { at, opposite } = anglesOf(knowledge, crossing);
      const premises =
        side === 1
          ? knowledge.equal(sum([at, 1], [opposite, 1]), constant(Real.of(180)))
          : knowledge.equal(at, opposite);
      if (premises === undefined) continue;
      const reason =
        side === 1 ? 'co-interior angles add up to 180°' : 'alternate angles are equal';
      const [first, second] =
        side === 1
          ? [
              [p, a],
              [q, b],
            ]
          : [
              [p, a],
              [b, q],
            ];
      addParallel(knowledge, first as [Point, Point], second as [Point, Point], reason, premises);
    }
  },
});

/** A line perpendicular to one of two parallels is to the other; two such lines are parallel. */
export const parallelTransitivity: Theorem = defineTheorem({
  name: 'lines parallel to the same line',
  level: 2,
  about: ['relation'],
  apply(knowledge) {
    const facts = knowledge.factsOf('parallel');
    for (const [index, first] of facts.entries()) {
      for (const second of facts.slice(index + 1)) {
        for (const [one, shared] of bothWays(first.said.groups)) {
          for (const [two, again] of bothWays(second.said.groups)) {
            if (shared.join() !== again.join() || one.join() === two.join()) continue;
            const reason = 'parallel to the same line';
            addParallel(knowledge, one, two, reason, [first.id, second.id]);
          }
        }
      }
    }
  },
});

type Pair = readonly [Point, Point];

function bothWays(groups: readonly (readonly Point[])[]): readonly (readonly [Pair, Pair])[] {
  const [[a, b] = [], [c, d] = []] = groups;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return [];
  return [
    [
      [a, b],
      [c, d],
    ],
    [
      [c, d],
      [a, b],
    ],
  ];
}

function anglesOf({ measures }: Knowledge, { p, q, a, b }: Crossing) {
  return { at: measures.angle(a, p, q), opposite: measures.angle(b, q, p) };
}

function* crossings({ figure }: Knowledge): Iterable<Crossing> {
  for (const p of figure.points) {
    for (const q of figure.neighborsAt(p)) {
      if (q < p) continue;
      for (const a of figure.raysAt(p)) {
        if (figure.areCollinear(p, q, a) || a === q) continue;
        for (const b of figure.raysAt(q)) {
          if (figure.areCollinear(p, q, b) || b === p || a === b) continue;
          const side = figure.orientation.side(p, q, a, b);
          if (side !== 0) yield { p, q, a, b, side };
        }
      }
    }
  }
}

export const perpendicularParallel: Theorem = defineTheorem({
  name: 'perpendicular to parallel lines',
  level: 2,
  about: ['angle', 'relation'],
  apply(knowledge) {
    // Where the lines meet in named points the angles say it; this is for those that do not.
    for (const { said, id } of knowledge.factsOf('perpendicular')) {
      for (const [first, second] of bothWays(said.groups)) {
        for (const { said: parallel, id: step } of knowledge.factsOf('parallel')) {
          for (const [one, other] of bothWays(parallel.groups)) {
            if (one.join() !== first.join()) continue;
            addAngle(knowledge, second, other, [id, step]);
          }
        }
      }
    }
  },
});

function addAngle(
  knowledge: Knowledge,
  first: Pair,
  second: Pair,
  premises: readonly number[],
): void {
  const { figure, measures } = knowledge;
  const vertex = figure.meeting(...first, ...second);
  if (vertex === undefined || isPerpendicular(knowledge, first, second) !== undefined) return;
  const [a, b] = [first, second].map(([one, two]) => (one === vertex ? two : one));
  if (a === undefined || b === undefined) return;
  const difference = sum([measures.angle(a, vertex, b), 1], [constant(Real.of(90)), -1]);
  knowledge.addSum(difference, 'perpendicular to one of two parallel lines', premises);
}
