/** Bars, lines and points of charts as regions of one color. */
import { type ChartCase, chartCases, chartImage } from '../charts/cases.ts';
import { elementsOf, pointsOf, shareNear } from '../charts/score-parts.ts';
import { boxOverlap, type QualitySuite, type Scores } from '../quality.ts';

export const opencv: QualitySuite = {
  tool: 'opencv',
  backing: 'clusters of color, contours and Hough’s transform in OpenCV (Apache-2.0); no weights',
  async cases() {
    const all = await chartCases();
    const marked = all.filter(({ marks }) => marks.length > 0);
    return await Promise.all(
      marked.map(async (chart) => ({
        name: `${chart.id} ${chart.kind} ${chart.style}`,
        images: await chartImage(chart),
        given: { max_elements: 200 },
        score: ({ stdout }) => primitiveScores(stdout, chart),
      })),
    );
  },
};

/**
 * Share of the bars that are a region, of the points that are the middle of one, or of the corners
 * of lines that an outline or a segment runs past.
 */
function primitiveScores(svg: string, { marks }: ChartCase): Scores {
  const outlines = elementsOf(svg, 'polygon').map(({ points = '' }) => pointsOf(points));
  const regions = outlines.map(around);
  const corners = marks.flatMap(({ points = [] }) => points);
  if (corners.length > 0) {
    const segments = elementsOf(svg, 'line').map(({ x1, y1, x2, y2 }) =>
      pointsOf(`${x1},${y1} ${x2},${y2}`),
    );
    return { 'lines as outlines': shareNear(corners, [...outlines, ...segments]) };
  }
  const centers = marks.flatMap(({ at }) => (at === undefined ? [] : [at]));
  if (centers.length > 0) {
    const isMiddle = ([x, y]: readonly [number, number]): boolean =>
      regions.some(
        ([left, top, right, bottom]) =>
          Math.hypot((left + right) / 2 - x, (top + bottom) / 2 - y) <= 3,
      );
    return { 'points as regions': centers.filter(isMiddle).length / centers.length };
  }
  const large = marks
    .flatMap(({ box }) => (box === undefined ? [] : [box]))
    .filter(([left, top, right, bottom]) => (right - left) * (bottom - top) > 60);
  const found = large.filter((box) => regions.some((one) => boxOverlap(one, box) >= 0.7));
  return { 'bars as regions': found.length / large.length };
}

function around(
  all: readonly (readonly [number, number])[],
): readonly [number, number, number, number] {
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1];
}
