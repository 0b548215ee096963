/** All tasks of ChartMoE on charts of real tables. */
import type { Outcome } from '@saccade/sandbox';
import { z } from 'zod';
import { type ChartCase, chartCases, chartImage, trueKind, trueValues } from '../charts/cases.ts';
import { reader } from '../charts/chart-suite.ts';
import { isRight, questionsAbout } from '../charts/questions.ts';
import { isNear, type ReadTable, tableScores } from '../charts/score-table.ts';
import { answerScores, type QualityCase, type QualitySuite, type Scores } from '../quality.ts';

const data = z.object({
  type: z.string(),
  categories: z.array(z.string()),
  series: z.array(
    z.object({
      name: z.string(),
      values: z.array(z.number().nullable()).optional(),
      confidence: z.array(z.number().nullable()).optional(),
      points: z.array(z.object({ x: z.number(), y: z.number() })).optional(),
    }),
  ),
});
type Data = z.output<typeof data>;

/** A value that is said with at least this confidence counts as sure. */
const sure = 0.8;

export const chartmoe: QualitySuite = {
  tool: 'chartmoe',
  backing: reader,
  async cases() {
    const all = await chartCases();
    const cases = await Promise.all(all.map(casesOf));
    return cases.flat();
  },
};

async function casesOf(chart: ChartCase): Promise<readonly QualityCase[]> {
  const images = await chartImage(chart);
  const name = `${chart.id} ${chart.kind} ${chart.style}`;
  return [
    {
      ...{ name: `${name} to_table`, images, given: { task: 'to_table', output_format: 'brief' } },
      score: ({ kind, stdout }) =>
        prefixed('to_table', tableScores(kind === 'ok' ? markdown(stdout) : undefined, chart)),
    },
    {
      ...{ name: `${name} extract_data`, images, given: { task: 'extract_data' } },
      score: (outcome) => dataScores(outcome, chart),
    },
    {
      ...{ name: `${name} analyze`, images, given: { task: 'analyze' } },
      score: ({ kind, stdout }) => analysisScores(kind === 'ok' ? stdout : '', chart),
    },
    ...questionsAbout(chart).map(({ question, answer }) => ({
      ...{ name: `${name}: ${question}`, images, given: { task: 'answer', question } },
      score: (outcome: Outcome): Scores => {
        const { kind, stdout } = outcome;
        if (answer === undefined) return { 'declines what it cannot know': Number(kind !== 'ok') };
        const said = stdout.split('\n').slice(1).join('\n');
        return answerScores(outcome, isRight(said, answer));
      },
    })),
  ];
}

function prefixed(task: string, scores: Scores): Scores {
  return Object.fromEntries(
    Object.entries(scores).map(([name, value]) => [`${task} ${name}`, value]),
  );
}

function markdown(text: string): ReadTable {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const [head = [], , ...rows] = lines.map((line) => line.slice(2, -2).split(' | '));
  return { head, rows };
}

function dataScores({ kind, stdout }: Outcome, chart: ChartCase): Scores {
  if (kind !== 'ok') return { 'extract_data values': 0, kinds: 0 };
  const found = data.parse(JSON.parse(stdout.slice(stdout.indexOf('\n'))));
  return {
    'extract_data values': tableScores(tableOf(found), chart).values ?? 0,
    kinds: Number(found.type === trueKind(chart)),
    ...sureScores(found, chart),
  };
}

/** Share of right values among those that are said to be sure. */
function sureScores(found: Data, chart: ChartCase): Scores {
  const table = tableOf({
    ...found,
    series: found.series.map(({ values = [], confidence = [], ...rest }) => ({
      ...rest,
      values: values.map((value, index) => ((confidence[index] ?? 0) >= sure ? value : null)),
    })),
  });
  const kept = table.rows.flatMap((row) => row.slice(1)).filter((cell) => cell !== '-').length;
  const all = trueValues(chart).flat().length;
  if (kept === 0 || chart.kind === 'scatter' || chart.isNumeric) return {};
  return {
    'right where sure': Math.min(1, ((tableScores(table, chart).values ?? 0) * all) / kept),
  };
}

function tableOf({ categories, series }: Data): ReadTable {
  const points = series.flatMap(({ name, points: own = [] }) =>
    own.map(({ x, y }) => [name, String(x), String(y)]),
  );
  if (points.length > 0) return { head: ['Series', 'x', 'y'], rows: points };
  return {
    head: ['Category', ...series.map(({ name }) => name)],
    rows: categories.map((label, index) => [
      label,
      ...series.map(({ values = [] }) => String(values[index] ?? '-')),
    ]),
  };
}

/** Whether the sums of all series are said, within 5 %. */
function analysisScores(text: string, chart: ChartCase): Scores {
  if (chart.kind === 'scatter' || chart.isNumeric) return {};
  const sums = [...text.matchAll(/ sum (-?[\d.]+),/g)].map((match) => Number(match[1]));
  const truth = trueValues(chart).map((values) => values.reduce((sum, value) => sum + value, 0));
  const right = truth.filter((wanted) => sums.some((said) => isNear(said, wanted, truth)));
  return { 'analyze sums': right.length / truth.length };
}
