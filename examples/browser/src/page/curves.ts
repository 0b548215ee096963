/** The curves that the page shows, and where their points come from. */
import type { Preset } from '../training/presets.ts';
import { LiveChart, type Point, type Series } from './charts.ts';
import { formatNumber, formatPercent } from './numbers.ts';
import type { History } from './session.ts';

interface Curve {
  readonly chart: LiveChart;
  readonly series: (history: History) => readonly Series[];
}

const RL = 'steps of reinforcement learning';
const UPDATES = 'updates of the cold start';

/** Charts for a run of this size; the axes span all of it from the beginning. */
export function makeCurves({ rl, coldStart, toolCalls }: Preset): readonly Curve[] {
  const steps = [0, rl.steps] as const;
  return [
    {
      chart: new LiveChart({
        title: 'Right answers',
        about: 'Of what is rolled out to learn from, and of held-out tasks.',
        xLabel: RL,
        xRange: steps,
        yRange: [0, 1],
        format: formatPercent,
      }),
      series: (history) => [
        line('rollouts', 1, points(history.reinforcement, 'accuracy')),
        {
          label: 'held out',
          kind: 'dots',
          color: 2,
          points: history.evaluations.map(({ step, accuracy }) => ({ x: step, y: accuracy })),
        },
      ],
    },
    {
      chart: new LiveChart({
        title: 'Reward',
        about: 'Mean over all trajectories of a step.',
        xLabel: RL,
        xRange: steps,
        yRange: [0, 1],
      }),
      series: (history) => [line('reward', 1, points(history.reinforcement, 'reward'))],
    },
    {
      chart: new LiveChart({
        title: 'Tool calls',
        about: 'Per trajectory, and those of them that failed.',
        xLabel: RL,
        xRange: steps,
        yRange: [0, toolCalls],
      }),
      series: (history) => [
        line('calls', 1, points(history.reinforcement, 'toolCalls')),
        line('failed', 2, points(history.reinforcement, 'failedCalls')),
      ],
    },
    {
      chart: new LiveChart({
        title: 'Loss of the cold start',
        about: 'Cross-entropy per kind of example, nats per token.',
        xLabel: UPDATES,
        xRange: [0, coldStart.updates],
        yRange: [0, 1],
      }),
      series: (history) => [
        line('tours', 1, points(history.coldStart, 'tours')),
        line('demonstrations', 2, points(history.coldStart, 'demonstrations')),
        line('readings', 3, points(history.coldStart, 'readings')),
      ],
    },
    {
      chart: new LiveChart({
        title: 'Loss of reinforcement learning',
        about: 'What the algorithm minimizes; its level says little.',
        xLabel: RL,
        xRange: steps,
      }),
      series: (history) => [line('loss', 1, points(history.reinforcement, 'loss'))],
    },
    {
      chart: new LiveChart({
        title: 'Entropy',
        about: 'Of the tokens learned from, nats: how much the policy still tries.',
        xLabel: RL,
        xRange: steps,
        yRange: [0, 0],
        format: formatNumber,
      }),
      series: (history) => [line('entropy', 1, points(history.reinforcement, 'entropy'))],
    },
  ];
}

function line(label: string, color: number, along: readonly Point[]): Series {
  return { label, kind: 'line', color, points: along };
}

function points(
  steps: readonly { readonly step: number; readonly values: Readonly<Record<string, number>> }[],
  name: string,
): readonly Point[] {
  return steps.map(({ step, values }) => ({ x: step, y: values[name] ?? Number.NaN }));
}
