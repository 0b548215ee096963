/** The row of `metrics.jsonl` that a step of reinforcement learning leaves. */
import { timed } from '@saccade/core';
import {
  errorMetrics,
  faithfulnessOf,
  keep,
  mean,
  positiveNegativeRatio,
  rolloutMetrics,
  sourceMetrics,
  taskMetrics,
  toolMixture,
} from '@saccade/eval';
import type { Task } from '@saccade/gym';
import { auditedGroup, type ScoredGroupResult } from '@saccade/rewards';
import { type AdvantagedTrajectory, countDrops, type ScheduleCommand } from '@saccade/schedulers';
import { everyTrajectory } from '@saccade/trajectory';
import { auditMetrics } from './audit-metrics.ts';
import { baselinesPerTask } from './baseline.ts';
import { type CollapseWatch, freshWatch, watchCollapse } from './collapse-watch.ts';
import type { Run } from './run.ts';

/** The record of one step. */
export interface StepRecord {
  /** The scheduler's commands. */
  readonly commands: readonly ScheduleCommand[];
  /** Groups that ended, and their tasks in the same order. */
  readonly results: readonly ScoredGroupResult[];
  readonly tasks: readonly Task[];
  readonly trained: readonly AdvantagedTrajectory[];
  /** Metrics from learning. */
  readonly learned: Readonly<Record<string, number>>;
  /** Rounds of rolling out; 1 where there are none. */
  readonly rounds?: number;
}

/** Metrics of a step that was taken; keeps its trajectories where they are to be kept. */
export async function stepRow(
  run: Run,
  { commands, results, tasks, trained, learned, rounds = 1 }: StepRecord,
): Promise<Record<string, number>> {
  const { config, state } = run;
  const groups = results.map(({ scored }) => scored);
  const every = config.rl.keepTrajectoriesEverySteps;
  if (every > 0 && state.rlSteps % every === 0) {
    const kept = groups.flatMap(everyTrajectory);
    const count = config.rl.groupSize + baselinesPerTask(run.parts.algorithm);
    const name = `step-${String(state.rlSteps).padStart(6, '0')}`;
    await keep(run, name, kept, tasks, count);
  }
  const drops = Object.entries(countDrops(commands)).flatMap(([reason, dropped]) => [
    [`filter/${reason}/groups`, dropped.groups],
    [`filter/${reason}/trajectories`, dropped.trajectories],
  ]);
  const [audited, auditSeconds] = await timed(async () =>
    auditMetrics(run, results.map(auditedGroup)),
  );
  const exhausted = commands.find((command) => command.kind === 'exhausted');
  if (exhausted?.kind === 'exhausted') {
    const { filled, wanted } = exhausted;
    const message =
      `Step ${state.rlSteps}: after ${exhausted.rounds} rounds ${filled} of ${wanted} groups ` +
      'teach something; it trained on those.';
    run.onEvent({ kind: 'warning', message });
  }
  const onWarning = (message: string): void => run.onEvent({ kind: 'warning', message });
  const ask = run.parts.judges?.errors;
  const errors = await errorMetrics(results, {
    settings: config.evaluation,
    ...(ask && { judging: { ask, tasks } }),
    onWarning,
  });
  const rolledOut = groups.length > 0 ? rolloutMetrics(groups) : {};
  warnOfCollapse(run, rolledOut['tool_calls/mean']);
  return {
    // Where rollouts stream, a step may end before any of them does.
    ...rolledOut,
    ...taskMetrics(results, tasks, config.evaluation),
    ...sourceMetrics(results, tasks),
    ...faithfulnessOf(results, config.evaluation, onWarning),
    ...toolMixture(results, onWarning),
    ...errors,
    ...audited,
    ...Object.fromEntries(drops),
    positive_negative_advantage_ratio: positiveNegativeRatio(trained),
    trained_trajectories: trained.length,
    ...(rounds > 1 && { 'schedule/rounds': rounds }),
    ...(exhausted !== undefined && { 'schedule/exhausted': 1 }),
    ...(groups.length > 0 && {
      'failed/ratio':
        1 - mean(groups.map(({ trajectories }) => trajectories.length)) / config.rl.groupSize,
    }),
    ...failureCounts(results),
    ...learned,
    num_tokens: state.tokens,
    'time/audit': auditSeconds,
  };
}

const watches = new WeakMap<Run, CollapseWatch>();

function warnOfCollapse(run: Run, toolCalls: number | undefined): void {
  if (toolCalls === undefined) return;
  const [watch, message] = watchCollapse(watches.get(run) ?? freshWatch, toolCalls, run.config.rl);
  watches.set(run, watch);
  if (message !== undefined) run.onEvent({ kind: 'warning', message });
}

/** Trajectories without a reward by the boundary they failed at; absent where none did. */
function failureCounts(results: readonly ScoredGroupResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { failure } of results.flatMap(({ failed }) => failed)) {
    const name = `failed/${failure?.boundary ?? 'env'}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
