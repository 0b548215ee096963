/** Segments side by side on a line. */
import { single, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

export const segmentAddition: Theorem = defineTheorem({
  name: 'segments add up',
  level: 1,
  about: ['length'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const line of figure.lines) {
      const points = [...line.points];
      for (const a of points) {
        for (const b of points) {
          if (a >= b) continue;
          const middle = points.filter((point) => line.isBetween(point, a, b));
          for (const m of middle) {
            const parts = sum(
              [single(measures.length(a, m)), 1],
              [single(measures.length(m, b)), 1],
              [single(measures.length(a, b)), -1],
            );
            knowledge.addSum(parts, 'segments of a line');
          }
        }
      }
    }
  },
});
