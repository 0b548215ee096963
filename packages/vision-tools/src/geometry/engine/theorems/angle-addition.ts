/** Angles side by side: within a larger one, on a line, around a point. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

export const angleAddition: Theorem = defineTheorem({
  name: 'angles add up',
  level: 1,
  about: ['angle'],
  apply(knowledge) {
    const { figure } = knowledge;
    for (const vertex of figure.points) {
      const rays = figure.raysAt(vertex);
      for (const [i, a] of rays.entries()) {
        for (const [j, b] of rays.entries()) {
          if (j <= i) continue;
          if (figure.isBetween(vertex, a, b)) addStraight(knowledge, vertex, a, b, rays);
          for (const c of rays.slice(j + 1)) addThree(knowledge, vertex, [a, b, c]);
        }
      }
    }
  },
});

/** Both sides of a ray that starts on a line. */
function addStraight(
  knowledge: Knowledge,
  vertex: Point,
  a: Point,
  b: Point,
  rays: readonly Point[],
): void {
  const { measures } = knowledge;
  for (const ray of rays) {
    if (ray === a || ray === b) continue;
    const both = sum(
      [measures.angle(a, vertex, ray), 1],
      [measures.angle(ray, vertex, b), 1],
      [constant(Real.of(180)), -1],
    );
    knowledge.addSum(both, 'angles on a line');
  }
}

function addThree(knowledge: Knowledge, vertex: Point, rays: readonly [Point, Point, Point]): void {
  const { figure, measures } = knowledge;
  const [a, b, c] = rays;
  if ([a, b, c].some((ray, at) => figure.areCollinear(vertex, ray, rays[(at + 1) % 3] ?? a)))
    return;
  const angle = (one: Point, two: Point) => measures.angle(one, vertex, two);
  for (const [inner, one, two] of [
    [a, b, c],
    [b, a, c],
    [c, a, b],
  ] as const) {
    if (!figure.orientation.isInside(vertex, inner, one, two)) continue;
    const parts = sum([angle(one, inner), 1], [angle(inner, two), 1], [angle(one, two), -1]);
    knowledge.addSum(parts, 'adjacent angles');
    return;
  }
  const { orientation } = figure;
  const whole = [vertex, a, b] as const;
  const isAround =
    orientation.compare([vertex, b, c], whole) === 1 &&
    orientation.compare([vertex, c, a], whole) === 1;
  if (!isAround) return;
  const all = sum(
    [angle(a, b), 1],
    [angle(b, c), 1],
    [angle(c, a), 1],
    [constant(Real.of(360)), -1],
  );
  knowledge.addSum(all, 'angles around a point');
}
