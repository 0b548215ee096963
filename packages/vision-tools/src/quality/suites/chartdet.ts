/** Bars and points of charts, where they were drawn, and what they belong to. */
import { z } from 'zod';
import { type ChartCase, chartCases, chartImage } from '../charts/cases.ts';
import { reader } from '../charts/chart-suite.ts';
import { isSameLabel } from '../charts/labels.ts';
import { markScores } from '../charts/score-parts.ts';
import { boxOverlap, type QualityCase, type QualitySuite, type Scores } from '../quality.ts';

const graph = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      label: z.string().optional(),
      box: z.array(z.number()).optional(),
    }),
  ),
  edges: z.array(z.object({ from: z.string(), to: z.string(), relation: z.string() })),
});

export const chartdet: QualitySuite = {
  tool: 'chartdet',
  backing: reader,
  async cases() {
    const all = await chartCases();
    const marked = all.filter(({ marks }) => marks.length > 0);
    const cases = await Promise.all(marked.map(casesOf));
    return cases.flat();
  },
};

async function casesOf(chart: ChartCase): Promise<readonly QualityCase[]> {
  const images = await chartImage(chart);
  const name = `${chart.id} ${chart.kind} ${chart.style}`;
  return [
    {
      ...{ name, images, given: { output: 'svg' } },
      score: ({ stdout }) => markScores(stdout, chart),
    },
    {
      ...{ name: `${name} graph`, images, given: { output: 'scg' } },
      score: ({ kind, stdout }) =>
        kind === 'ok' ? edgeScores(stdout, chart) : { 'edges to rows': 0 },
    },
  ];
}

/** Shares of the chart's bars that are nodes with an edge to their row, and to their series. */
function edgeScores(stdout: string, chart: ChartCase): Scores {
  const bars = chart.marks.flatMap(({ box, label, series }) =>
    box === undefined || box[2] - box[0] < 2 || box[3] - box[1] < 2 ? [] : [{ box, label, series }],
  );
  if (bars.length === 0) return {};
  const { nodes, edges } = graph.parse(JSON.parse(stdout.slice(stdout.indexOf('\n'))));
  const target = (id: string, relation: string): string => {
    const to = edges.find((edge) => edge.from === id && edge.relation === relation)?.to;
    return nodes.find((node) => node.id === to)?.label ?? '';
  };
  const found = bars.map(({ box, label, series }) => {
    const node = nodes.find(
      (one) => one.type === 'bar' && one.box !== undefined && boxOverlap(one.box, box) >= 0.7,
    );
    const id = node?.id ?? '';
    return {
      row: isSameLabel(target(id, 'belongs_to_row'), label ?? ''),
      series: isSameLabel(target(id, 'belongs_to_series'), series ?? ''),
    };
  });
  const share = (count: number): number => count / bars.length;
  return {
    'edges to rows': share(found.filter(({ row }) => row).length),
    ...(chart.hasLegend &&
      chart.series.length > 1 && {
        'edges to series': share(found.filter(({ series }) => series).length),
      }),
  };
}
