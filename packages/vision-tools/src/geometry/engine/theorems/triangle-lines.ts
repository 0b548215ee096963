/** Bisectors and medians of triangles, and perpendicular bisectors. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import { single, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

/** BD : DC = AB : AC for the bisector AD of the angle at A. */
export const bisectorTheorem: Theorem = defineTheorem({
  name: 'angle bisector theorem',
  level: 2,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const triangle of figure.triangles()) {
      for (const [a, b, c] of turns(triangle)) {
        for (const d of figure.lineThrough(b, c)?.points ?? []) {
          if (!figure.isBetween(d, b, c) || !figure.areJoined(a, d)) continue;
          const halves = [measures.angle(b, a, d), measures.angle(d, a, c)] as const;
          const premises = knowledge.equal(...halves);
          if (premises === undefined) continue;
          const sides = [measures.length(b, d), measures.length(d, c)] as const;
          const others = [measures.length(a, b), measures.length(a, c)] as const;
          const powers = [
            [sides[0], 1],
            [sides[1], -1],
            [others[0], -1],
            [others[1], 1],
          ] as const;
          knowledge.addRatio(powers, Real.one, 'angle bisector theorem', premises);
          const products = [sides[0], others[1]] as const;
          const hasSum = [...sides, ...others].some((id) => knowledge.form(id).value.size > 1);
          if (!hasSum) continue;
          const across = [sides[1], others[0]] as const;
          knowledge.addProportion(products, across, 'angle bisector theorem', premises);
        }
      }
    }
  },
});

function turns([a, b, c]: readonly [Point, Point, Point]): readonly (readonly [
  Point,
  Point,
  Point,
])[] {
  return [
    [a, b, c],
    [b, c, a],
    [c, a, b],
  ];
}

/** The centroid divides each median 2 : 1, and each median ends in a midpoint. */
export const centroid: Theorem = defineTheorem({
  name: 'centroid',
  level: 2,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { said, id } of knowledge.factsOf('centroid')) {
      const [[o] = [], [x, y, z] = []] = said.groups;
      if (o === undefined || x === undefined || y === undefined || z === undefined) continue;
      for (const [a, b, c] of turns([x, y, z])) {
        for (const d of figure.lineThrough(a, o)?.points ?? []) {
          if (!figure.areCollinear(b, c, d)) continue;
          const parts = sum(
            [single(measures.length(a, o)), 1],
            [single(measures.length(o, d)), -2],
          );
          knowledge.addSum(parts, 'centroid', [id]);
          const halves = sum(
            [single(measures.length(b, d)), 1],
            [single(measures.length(d, c)), -1],
          );
          knowledge.addSum(halves, 'median', [id]);
        }
      }
    }
  },
});

/** A right triangle's median to the hypotenuse is half of it; the other way around too. */
export const medianToHypotenuse: Theorem = defineTheorem({
  name: 'median to the hypotenuse',
  level: 2,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const triangle of figure.triangles()) {
      for (const [a, b, c] of turns(triangle)) {
        const right = knowledge.value(measures.angle(b, a, c));
        if (right?.value.equals(Real.of(90)) !== true) continue;
        for (const m of figure.lineThrough(b, c)?.points ?? []) {
          if (!figure.isBetween(m, b, c) || !figure.areJoined(a, m)) continue;
          const half = single(measures.length(b, m));
          const premises = knowledge.equal(half, single(measures.length(m, c)));
          if (premises === undefined) continue;
          const difference = sum([single(measures.length(a, m)), 1], [half, -1]);
          const all = [...right.premises, ...premises];
          knowledge.addSum(difference, 'median to the hypotenuse', all);
        }
      }
    }
  },
});
