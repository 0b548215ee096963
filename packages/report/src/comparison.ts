/** Several runs side by side: what each reached, and their curves in one image. */
import type { MetricsRow } from '@saccade/run-store';
import type { Chart, Point, Series } from './charts.ts';
import { boundaryOf, type Evaluation, evaluationsOf, numberIn, rowsOf } from './curves.ts';
import { formatDifference, formatPercent, wilsonInterval } from './numbers.ts';

/** With more runs than this, error bars hide what they belong to. */
const MOST_WITH_BARS = 6;

/** A run in a comparison: its label in the legend and the rows of its `metrics.jsonl`. */
export interface ComparedRun {
  readonly label: string;
  readonly metrics: readonly MetricsRow[];
}

/** The curves of all runs over RL steps, a color a run. */
export function comparisonCharts(runs: readonly ComparedRun[]): readonly Chart[] {
  const heldOut = (value: (evaluation: Evaluation) => Omit<Point, 'x'>): Series[] =>
    runs.map(({ label, metrics }, i) => ({
      label,
      kind: 'dots',
      color: i + 1,
      points: evaluationsOf(metrics).map((one) => ({ x: one.step, ...value(one) })),
    }));
  const training = (name: string): Series[] =>
    runs.map(({ label, metrics }, i) => {
      const boundary = boundaryOf(metrics);
      const points = rowsOf(metrics, 'rl').map((row) => ({
        x: row.step - boundary,
        y: numberIn(row, name),
      }));
      return { label, kind: 'line', color: i + 1, points };
    });
  const hasBars = runs.length <= MOST_WITH_BARS;
  return [
    {
      title: 'Accuracy on held-out tasks',
      about: hasBars ? '95 % Wilson intervals.' : 'Without their intervals, for there are many.',
      xLabel: 'RL step',
      yRange: [0, 1],
      yFormat: (share) => formatPercent(share, 0),
      series: heldOut(({ accuracy, count }) => ({
        y: accuracy,
        ...(hasBars && wilsonInterval(accuracy, count)),
      })),
    },
    {
      title: 'Tool calls on held-out tasks',
      about: 'Per trajectory.',
      xLabel: 'RL step',
      yRange: [0, 0],
      series: heldOut(({ toolCalls }) => ({ y: toolCalls })),
    },
    {
      title: 'Reward in training',
      about: 'Mean of a step.',
      xLabel: 'RL step',
      yRange: [0, 0],
      series: training('reward'),
    },
    {
      title: 'Entropy in training',
      about: 'Nats per token.',
      xLabel: 'RL step',
      yRange: [0, 0],
      series: training('entropy'),
    },
  ];
}

/**
 * A Markdown table: accuracy and tool calls after the cold start and at the end, and the mean reward
 * of the last ten steps, which is steadier than one evaluation.
 */
export function comparisonTable(runs: readonly ComparedRun[]): string {
  const rows = runs.map((run) => {
    const { label, metrics } = run;
    const { before, after } = endsOf(run);
    const gain = 100 * ((after?.accuracy ?? Number.NaN) - (before?.accuracy ?? Number.NaN));
    return [
      label,
      percent(before),
      percent(after),
      Number.isFinite(gain) ? formatDifference(gain, 1) : '–',
      `${calls(before)} → ${calls(after)}`,
      lastReward(metrics),
      String(rowsOf(metrics, 'rl').length),
    ];
  });
  const head = ['run', 'after SFT', 'after RL', 'points', 'tool calls', 'last reward', 'RL steps'];
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** A run's row of the table, as numbers. */
export interface ComparisonNumbers {
  readonly label: string;
  /** Steps of reinforcement learning. */
  readonly steps: number;
  /** Held-out accuracy after the cold start and at the end, 0 to 1. */
  readonly accuracyBefore?: number;
  readonly accuracyAfter?: number;
  /** Tool calls per task. */
  readonly toolCallsBefore?: number;
  readonly toolCallsAfter?: number;
  /** Mean reward of the last ten steps. */
  readonly lastReward?: number;
}

/** The numbers of the table, a run each; undefined where there is none. */
export function comparisonNumbers(runs: readonly ComparedRun[]): readonly ComparisonNumbers[] {
  return runs.map((run) => {
    const { before, after } = endsOf(run);
    const reward = Number(lastReward(run.metrics));
    return {
      label: run.label,
      steps: rowsOf(run.metrics, 'rl').length,
      ...(before && { accuracyBefore: before.accuracy, toolCallsBefore: before.toolCalls }),
      ...(after && { accuracyAfter: after.accuracy, toolCallsAfter: after.toolCalls }),
      ...(Number.isFinite(reward) && { lastReward: reward }),
    };
  });
}

/** A run's evaluations after the cold start and at its end. */
function endsOf({ metrics }: ComparedRun) {
  const evaluations = evaluationsOf(metrics);
  return {
    before: evaluations.find((one) => one.label === 'sft'),
    after: evaluations.filter((one) => one.label !== 'sft').at(-1),
  };
}

function lastReward(metrics: readonly MetricsRow[]): string {
  // Where rollouts stream, a step may end before any of them does.
  const rewards = rowsOf(metrics, 'rl')
    .map((row) => numberIn(row, 'reward'))
    .filter(Number.isFinite)
    .slice(-10);
  if (rewards.length === 0) return '–';
  return (rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length).toFixed(3);
}

function percent(evaluation: Evaluation | undefined): string {
  return evaluation ? formatPercent(evaluation.accuracy) : '–';
}

function calls(evaluation: Evaluation | undefined): string {
  return evaluation ? evaluation.toolCalls.toFixed(2) : '–';
}
