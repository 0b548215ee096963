/** The curves of evaluations side by side: what more samples, turns, tokens and training bring. */
import type { SampleFacts } from '@saccade/eval';
import type { Chart, Point, Series } from '../charts.ts';
import { formatPercent } from '../numbers.ts';
import type { ModelOnSuite, PageSuite, SideBySide } from './read-side-by-side.ts';

/** Colors of the style sheet. */
const COLORS = 6;
/** Points of a curve over tokens. */
const TOKEN_POINTS = 24;

/** The charts of one suite; one without anything to draw is left out. */
export function suiteCharts(
  { models, k }: PageSuite,
  page: Pick<SideBySide, 'models'>,
): readonly Chart[] {
  const series = (pointsOf: (own: ModelOnSuite) => readonly Point[]): readonly Series[] =>
    models.flatMap((own): readonly Series[] => {
      const points = pointsOf(own);
      const label = page.models[own.model]?.label ?? '';
      return points.length === 0
        ? []
        : [{ label, kind: 'dots', color: 1 + (own.model % COLORS), points }];
    });
  const all = models.flatMap(({ samples }) => [...samples.values()].flat());
  // Every curve goes to the end, also that of a model that needs less.
  const mostTurns = Math.max(0, ...all.map(({ turns }) => turns));
  const mostTokens = Math.max(0, ...all.map(({ tokens }) => tokens));
  const share = { yRange: [0, 1] as const, yFormat: (y: number) => formatPercent(y, 0) };
  const charts: readonly Chart[] = [
    {
      title: 'Right after so many turns',
      about: 'Share of all samples that were answered right in so many turns or fewer.',
      xLabel: 'turns',
      ...share,
      series: series(({ samples }) => solvedWithin([...samples.values()].flat(), mostTurns)),
    },
    {
      title: 'Right within so many tokens',
      about:
        'Share of all samples that were answered right with so many tokens of the model or fewer.',
      xLabel: 'tokens',
      ...share,
      series: series(({ samples }) => solvedInTokens([...samples.values()].flat(), mostTokens)),
    },
    {
      title: 'pass@n',
      about: 'The chance that one of n samples is right, with 95 % intervals.',
      xLabel: 'n',
      ...share,
      series: k === 1 ? [] : series(passPoints),
    },
    { ...trainingChart(models, page), ...share },
  ];
  return charts.filter((chart) => chart.series.length > 0);
}

function solvedWithin(samples: readonly SampleFacts[], most: number): readonly Point[] {
  if (samples.length === 0) return [];
  return Array.from({ length: most }, (_, index) => {
    const solved = samples.filter((one) => one.isCorrect && one.turns <= index + 1).length;
    return { x: index + 1, y: solved / samples.length };
  });
}

function solvedInTokens(samples: readonly SampleFacts[], most: number): readonly Point[] {
  if (samples.length === 0 || most === 0) return [];
  return Array.from({ length: TOKEN_POINTS + 1 }, (_, index) => {
    const tokens = Math.round((most * index) / TOKEN_POINTS);
    const solved = samples.filter((one) => one.isCorrect && one.tokens <= tokens).length;
    return { x: tokens, y: solved / samples.length };
  });
}

function passPoints({ results: { metrics, intervals } }: ModelOnSuite): readonly Point[] {
  return Object.entries(metrics).flatMap(([name, y]): readonly Point[] => {
    const n = /^pass@(\d+)$/.exec(name)?.[1];
    if (n === undefined) return [];
    const [low, high] = intervals[name] ?? [];
    return [{ x: Number(n), y, ...(low !== undefined && high !== undefined && { low, high }) }];
  });
}

/** Accuracy over the steps of a run, where two checkpoints of one are there. */
function trainingChart(
  models: PageSuite['models'],
  page: Pick<SideBySide, 'models'>,
): Pick<Chart, 'title' | 'about' | 'xLabel' | 'series'> {
  const runs = new Map<string, Point[]>();
  for (const { model, results } of models) {
    const found = page.models[model]?.evaluation.model;
    const y = results.metrics[`avg@${results.k}`];
    if (found?.step === undefined || y === undefined) continue;
    const run = found.source.replace(/\/checkpoints\/.*$/, '');
    const [low, high] = results.intervals[`avg@${results.k}`] ?? [];
    const point = {
      x: found.step,
      y,
      ...(low !== undefined && high !== undefined && { low, high }),
    };
    runs.set(run, [...(runs.get(run) ?? []), point]);
  }
  const series = [...runs]
    .filter(([, points]) => points.length > 1)
    .map(([run, points], index): Series => {
      const sorted = points.sort((a, b) => a.x - b.x);
      const label = run.split('/').filter(Boolean).at(-1) ?? run;
      return { label, kind: 'dots', color: 1 + (index % COLORS), points: sorted };
    });
  return {
    title: 'Accuracy over training',
    about: 'Mean score of the checkpoints of each run, with 95 % intervals.',
    xLabel: 'step',
    series,
  };
}
