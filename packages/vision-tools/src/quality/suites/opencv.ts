/** Bars and lines of charts as regions of one color. */
import { chartCases, chartImage } from '../charts/cases.ts';
import { elementsOf } from '../charts/score-parts.ts';
import { boxOverlap, type QualitySuite } from '../quality.ts';

export const opencv: QualitySuite = {
  tool: 'opencv',
  backing: 'clusters of color, contours and Hough’s transform in OpenCV (Apache-2.0); no weights',
  async cases() {
    const all = await chartCases();
    const barred = all.filter(({ marks }) => marks.some(({ kind }) => kind === 'bar'));
    return await Promise.all(
      barred.map(async (chart) => ({
        name: `${chart.id} ${chart.kind} ${chart.style}`,
        images: await chartImage(chart),
        given: { max_elements: 200 },
        score: ({ stdout }) => {
          const regions = elementsOf(stdout, 'polygon').map(({ points = '' }) => around(points));
          const bars = chart.marks.flatMap(({ box }) => (box === undefined ? [] : [box]));
          const large = bars.filter(([left, top, right, bottom]) => (right - left) * (bottom - top) > 60);
          const found = large.filter((box) => regions.some((one) => boxOverlap(one, box) >= 0.7));
          return { 'bars as regions': large.length === 0 ? 1 : found.length / large.length };
        },
      })),
    );
  },
};

function around(points: string): readonly [number, number, number, number] {
  const all = points.split(' ').map((pair) => pair.split(',').map(Number));
  const [xs, ys] = [all.map(([x = 0]) => x), all.map(([, y = 0]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1];
}
