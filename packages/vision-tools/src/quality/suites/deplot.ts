/** The charts of `unichart`, with their titles. */
import { chartCases, chartImage } from '../charts/cases.ts';
import { isSameLabel } from '../charts/labels.ts';
import { tableScores } from '../charts/score-table.ts';
import type { QualitySuite } from '../quality.ts';
import { linear, reader } from './unichart.ts';

export const deplot: QualitySuite = {
  tool: 'deplot',
  backing: reader,
  async cases() {
    const all = await chartCases();
    return await Promise.all(
      all.map(async (chart) => ({
        name: `${chart.id} ${chart.kind} ${chart.style}`,
        images: await chartImage(chart),
        given: {},
        score: ({ kind, stdout }) => {
          if (kind !== 'ok') return { ...tableScores(undefined, chart), titles: 0 };
          const [title = '', ...rest] = stdout.split(' <0x0A> ');
          return {
            ...tableScores(linear(rest.join(' <0x0A> '), ' <0x0A> '), chart),
            titles: Number(isSameLabel(title.replace('TITLE | ', ''), chart.title)),
          };
        },
      })),
    );
  },
};
