/** What steps of a run recorded beside tokens: publishing, sandboxes, processors. */
import type { MetricsRow } from '@saccade/run-store';
import { median } from './median.ts';

/** Fields of a document of costs, and sentences on what is known and what is assumed. */
export interface RecordedWork {
  readonly fields: {
    readonly publish?: { readonly seconds: number };
    readonly tools?: { readonly openSeconds: number; readonly workShare: number };
    readonly learner?: { readonly processors: number };
  };
  /** Processor seconds of the run's process in the rollouts of a step, and requests; where they are known. */
  readonly rollout?: { readonly processorSeconds: number; readonly requests: number };
  readonly assumptions: readonly string[];
}

/**
 * Reads sums over steps:
 *
 *   openSeconds = (processor seconds of sandboxes − those of executions) / sessions
 *   workShare   = processor seconds of executions / their seconds
 *
 * Times on processors, since what a run measured by the clock holds the waiting for them.
 *
 * @param rows of reinforcement learning, in steps whose rollouts and learning took turns
 */
export function readRecordedWork(rows: readonly MetricsRow[]): RecordedWork {
  // The first step warms caches up.
  const counted = rows.length > 1 ? rows.slice(1) : rows;
  const sum = (of: (row: MetricsRow) => number): number =>
    counted.reduce((total, row) => total + of(row), 0);
  const all = (name: string) => sum((row) => Number(row[name] ?? 0));
  const has = (name: string) => counted.some((row) => typeof row[name] === 'number');
  const assumptions: string[] = [];
  const publishes = counted
    .map((row) => row['time/publish'])
    .filter((one) => typeof one === 'number');
  if (publishes.length === 0) {
    assumptions.push('The run does not say what publishing weights took: it counts as none.');
  }
  const executed = (name: string) =>
    sum((row) => Number(row['throughput/executions'] ?? 0) * Number(row[name] ?? 0));
  const [sessions, seconds] = [all('throughput/sessions'), executed('time/execution')];
  const [inside, ran] = [
    all('time/sandbox_processors/rollout'),
    executed('time/execution_processor'),
  ];
  const isOpened = sessions > 0 && has('time/sandbox_processors/rollout');
  assumptions.push(
    isOpened
      ? 'Sandboxes: seconds on processors of a session and of an execution, as the run recorded them.'
      : 'The run does not say what opening a sandbox took.',
  );
  const learning = all('time/learn');
  return {
    fields: {
      ...(publishes.length > 0 && { publish: { seconds: median(publishes) } }),
      ...(isOpened && {
        tools: {
          openSeconds: Math.max(0, inside - ran) / sessions,
          workShare: seconds > 0 ? Math.min(1, ran / seconds) : 1,
        },
      }),
      ...(has('time/processors/learn') &&
        learning > 0 && { learner: { processors: all('time/processors/learn') / learning } }),
    },
    ...(has('time/processors/rollout') && {
      rollout: {
        processorSeconds: all('time/processors/rollout') / counted.length,
        requests: all('throughput/requests') / counted.length,
      },
    }),
    assumptions,
  };
}
