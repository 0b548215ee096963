/** The angles of triangles, and of convex polygons. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { constant, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

export const angleSum: Theorem = defineTheorem({
  name: 'angle sum',
  level: 1,
  about: ['angle'],
  apply(knowledge) {
    const { figure } = knowledge;
    for (const triangle of figure.triangles()) {
      addSum(knowledge, triangle, 'angle sum of a triangle');
    }
    for (const corners of figure.quadrilaterals()) {
      addSum(knowledge, corners, 'angle sum of a quadrilateral');
    }
    for (const polygon of figure.polygons) {
      if (polygon.length < 5 || !figure.orientation.isConvex(polygon)) continue;
      addSum(knowledge, polygon, 'angle sum of a polygon');
    }
  },
});

function addSum(knowledge: Knowledge, corners: readonly Point[], reason: string): void {
  const angles = corners.map((corner, index) => {
    const [before, after] = [corners.at(index - 1), corners[(index + 1) % corners.length]];
    return [knowledge.measures.angle(before ?? corner, corner, after ?? corner), 1] as const;
  });
  const total = constant(Real.of(180 * (corners.length - 2)));
  knowledge.addSum(sum(...angles, [total, -1]), reason);
}
