/** Costs as a run recorded them: times of its steps, tokens, tool times, rollouts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import {
  listTrajectorySets,
  type MetricsRow,
  readConfig,
  readMetrics,
  readTrajectorySet,
} from '@saccade/run-store';
import { isScored, type ScoredTrajectory } from '@saccade/trajectory';
import { type GroupProfile, profileGroups } from './profile.ts';

/** What a run tells of its costs. The engine's have to be measured: see `measureEngine`. */
export interface RunCosts {
  /** Fields of a document of costs. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly groups: readonly GroupProfile[];
  /** Recorded trajectories, without images. */
  readonly trajectories: readonly ScoredTrajectory[];
  readonly assumptions: readonly string[];
  /** Median seconds of a step; the first, which warms caches up, is left out where there are more. */
  readonly stepSeconds: number;
}

/**
 * Reads the costs of a run whose rollouts and learning took turns.
 *
 *   seconds of learning = secondsPerStep + secondsPerToken · tokens     least squares, both ≥ 0
 *
 * @throws DataError if there is no run, no step of reinforcement learning, or no trajectory
 * @throws StoreError if its files are damaged
 */
export function readRunCosts(directory: string): RunCosts {
  if (!existsSync(join(directory, 'config.json'))) {
    throw new DataError(`There is no run in ${directory}. Give the directory of a run.`);
  }
  const config = readConfig(directory).config as RunFields;
  const { rows } = readMetrics(directory).value;
  const rl = rows.filter(({ stage }) => stage === 'rl');
  if (rl.length === 0) {
    throw new DataError(
      `${directory} has no step of reinforcement learning. Train a few, or give --costs.`,
    );
  }
  const points = learningPoints(rows);
  const fit = points.length > 0 ? fitLine(points) : undefined;
  const kept = readGroups(directory);
  const evaluations = rows.map((row) => row['time/evaluation']).filter(isNumber);
  const { engine, packing, rollout, scheduler, evaluation, rl: training } = config;
  const assumptions = [
    fit === undefined
      ? 'The run does not say how long learning took: its scheduler streams. The learner is given.'
      : `Learning: least squares over ${points.length} steps of the run.`,
    `Rollouts: drawn from ${kept.groups.length} recorded groups, turn by turn, with the times of their tools.`,
    'Scoring is part of the recorded time of rollouts and counts as none.',
  ];
  return {
    fields: {
      ...(fit && {
        // Rows, audits and files of a step are of no other part.
        learner: { secondsPerStep: fit.fixed + otherSeconds(rl), secondsPerToken: fit.slope },
      }),
      training: {
        groupSize: training.groupSize,
        ...(rollout && { concurrency: rollout.concurrency }),
        ...(packing && { sharedPrefix: packing.sharedPrefix }),
      },
      scheduler,
      ...(evaluations.length > 0 && {
        evaluation: { seconds: median(evaluations), everySteps: evaluation?.everySteps ?? 0 },
      }),
      publish: { recomputes: engine === undefined ? (training.minibatches ?? 1) : 1 },
    },
    ...kept,
    assumptions,
    stepSeconds: median(
      rl
        .map((row) => row.step_time)
        .filter(isNumber)
        .slice(rl.length > 1 ? 1 : 0),
    ),
  };
}

/** Median seconds of a step that are neither rolling out nor learning. */
function otherSeconds(rows: readonly MetricsRow[]): number {
  return median(
    rows.flatMap((row) => {
      const { step_time: all, 'time/rollout': rollout, 'time/learn': learn } = row;
      return isNumber(all) && isNumber(rollout) && isNumber(learn) ? all - rollout - learn : [];
    }),
  );
}

interface RunFields {
  readonly engine?: object;
  readonly packing?: { readonly sharedPrefix: boolean };
  readonly rollout?: { readonly concurrency: number };
  readonly scheduler: Readonly<Record<string, unknown>>;
  readonly evaluation?: { readonly everySteps: number };
  readonly rl: { readonly groupSize: number; readonly minibatches?: number };
}

/** Packed tokens and seconds of learning of a step. */
export interface LearningPoint {
  readonly tokens: number;
  readonly seconds: number;
}

function learningPoints(rows: readonly MetricsRow[]): readonly LearningPoint[] {
  let before = 0;
  return rows.flatMap((row): readonly LearningPoint[] => {
    const { num_tokens: all, 'time/learn': seconds } = row;
    if (!isNumber(all)) return [];
    const tokens = all - before;
    before = all;
    return isNumber(seconds) && tokens > 0 ? [{ tokens, seconds }] : [];
  });
}

/** Least squares of seconds = fixed + slope · tokens with neither below 0. */
export function fitLine(points: readonly LearningPoint[]): { fixed: number; slope: number } {
  const mean = (of: (point: LearningPoint) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(({ tokens }) => tokens), mean(({ seconds }) => seconds)];
  const varied = mean(({ tokens }) => (tokens - x) ** 2);
  const joint = mean(({ tokens, seconds }) => (tokens - x) * (seconds - y));
  const slope = varied > 0 ? joint / varied : y / x;
  if (slope < 0) return { fixed: y, slope: 0 };
  const fixed = y - slope * x;
  if (fixed >= 0) return { fixed, slope };
  const squares = mean(({ tokens }) => tokens ** 2);
  return { fixed: 0, slope: mean(({ tokens, seconds }) => tokens * seconds) / squares };
}

function readGroups(directory: string): Pick<RunCosts, 'groups' | 'trajectories'> {
  const names = listTrajectorySets(directory).value.filter((name) => name.startsWith('step-'));
  const groups = names.flatMap((name) => {
    const byTask = new Map<string, ScoredTrajectory[]>();
    for (const { trajectory } of readTrajectorySet(directory, name).value) {
      if (!isScored(trajectory) || trajectory.isBaseline === true) continue;
      byTask.set(trajectory.taskId, [...(byTask.get(trajectory.taskId) ?? []), trajectory]);
    }
    return [...byTask.values()];
  });
  if (groups.length === 0) {
    throw new DataError(
      `${directory} keeps no trajectories of its steps. Train with rl.keepTrajectoriesEverySteps=1.`,
    );
  }
  return { groups: profileGroups(groups), trajectories: groups.flat() };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
