/** Circumference, area, arcs and sectors of circles that are asked for or given. */
import { addPolynomials, monomial } from '../../algebra/polynomial.ts';
import { Real } from '../../numbers/real.ts';
import { linearOf, polynomialOf } from '../evaluate.ts';
import type { Knowledge } from '../knowledge.ts';
import { single, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

export const circleMeasures: Theorem = defineTheorem({
  name: 'measures of circles and sectors',
  level: 2,
  about: ['length', 'area', 'perimeter', 'arc'],
  apply(knowledge) {
    for (const { id, what } of [...knowledge.measures.unknowns]) {
      if (what.kind !== 'quantity') continue;
      const [circle, a, b] = what.points;
      if (circle === undefined) continue;
      const radius = knowledge.measures.radius(circle);
      const twoPi = Real.pi.multiply(Real.of(2));
      if (what.name === 'circumference') {
        knowledge.addRatio(
          [
            [id, 1],
            [radius, -1],
          ],
          twoPi,
          'circumference of a circle',
        );
      }
      if (what.name === 'circleArea') {
        knowledge.addRatio(
          [
            [id, 1],
            [radius, -2],
          ],
          Real.pi,
          'area of a circle',
        );
      }
      if (a === undefined || b === undefined) continue;
      if (what.name === 'arcLength') addShare(knowledge, id, [circle, a, b], radius, twoPi, 1);
      if (what.name === 'sectorArea') addShare(knowledge, id, [circle, a, b], radius, Real.pi, 2);
      if (what.name === 'sectorPerimeter') {
        const arc = knowledge.measures.measure('arcLength', [circle, a, b]);
        const parts = sum([single(id), 1], [single(arc), -1], [single(radius), -2]);
        knowledge.addSum(parts, 'perimeter of a sector');
      }
    }
  },
});

/** measure·360 = whole·r^exponent·arc. */
function addShare(
  knowledge: Knowledge,
  id: number,
  points: readonly [string, string, string],
  radius: number,
  whole: Real,
  exponent: 1 | 2,
): void {
  const name = exponent === 1 ? 'length of an arc' : 'area of a sector';
  const arc = linearOf({ kind: 'quantity', name: 'arc', points }, knowledge);
  if (arc === undefined) return;
  const known = knowledge.value(arc);
  if (known !== undefined && known.value.approx > 0) {
    const share = whole.multiply(known.value).divide(Real.of(360));
    knowledge.addRatio(
      [
        [id, 1],
        [radius, -exponent],
      ],
      share,
      name,
      known.premises,
    );
    return;
  }
  const size = knowledge.valueOf(radius);
  if (size === undefined) return;
  const factor = whole.multiply(size.value.power(exponent)).divide(Real.of(-360));
  const scaled = [...polynomialOf(arc).values()].map(({ powers, coefficient }) =>
    monomial(coefficient.multiply(factor), ...powers),
  );
  knowledge.addPolynomial(addPolynomials(monomial(1, [id, 1]), ...scaled), name, size.premises);
}

/** The midpoint of an arc halves it. */
export const arcMidpoints: Theorem = defineTheorem({
  name: 'midpoint of an arc',
  level: 1,
  about: ['arc'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const { said, id } of knowledge.factsOf('arcMidpoint')) {
      const [[m] = [], [name, a, b] = []] = said.groups;
      const circle = figure.circles.find((one) => one.name === name);
      if (circle === undefined || m === undefined || a === undefined || b === undefined) continue;
      const [first, second] = [measures.arc(circle, a, m), measures.arc(circle, m, b)];
      if (first === undefined || second === undefined) continue;
      knowledge.addSum(sum([first, 1], [second, -1]), 'midpoint of an arc', [id]);
    }
  },
});
