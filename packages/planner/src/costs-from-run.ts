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
import { fitLine, type LearningPoint } from './fit-line.ts';
import { median } from './median.ts';
import { type GroupProfile, profileGroups } from './profile.ts';
import { type RecordedWork, readRecordedWork } from './recorded-work.ts';

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
  /** Of a step; absent where its scheduler streams. */
  readonly learning?: LearningPoint;
  /** Processor seconds of the run's process in the rollouts of a step, and requests; where they are known. */
  readonly rollout?: RecordedWork['rollout'];
  /** Address of the engine elsewhere that it sampled with; of the first, if there were several. */
  readonly engineUrl?: string;
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
  const warm = learningPoints(rows);
  // The first step warms caches up.
  const points = warm.length > 2 ? warm.slice(1) : warm;
  const work = readRecordedWork(rl);
  const fit = points.length > 0 ? fitLine(points) : undefined;
  const kept = readGroups(directory);
  const evaluations = rows.map((row) => row['time/evaluation']).filter(isNumber);
  const { engine, packing, sandbox, rollout, scheduler, evaluation, rl: training } = config;
  const assumptions = [
    fit === undefined
      ? 'The run does not say how long learning took: its scheduler streams. The learner is given.'
      : `Learning: least squares over ${points.length} steps of the run.`,
    `Rollouts: drawn from ${kept.groups.length} recorded groups, turn by turn, with the times of their tools.`,
    'Scoring is part of the recorded time of rollouts and counts as none.',
    ...work.assumptions,
  ];
  const servers = sandbox?.servers ?? 1;
  const [url] = (engine?.baseUrl ?? '').split(',');
  return {
    fields: {
      ...(fit && {
        // Rows, audits and files of a step are of no other part.
        learner: {
          secondsPerStep: fit.fixed + otherSeconds(rl),
          secondsPerToken: fit.slope,
          ...work.fields.learner,
        },
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
      ...(work.fields.tools && { tools: { ...work.fields.tools, openServers: servers } }),
      publish: {
        ...work.fields.publish,
        recomputes: engine === undefined ? (training.minibatches ?? 1) : 1,
      },
    },
    ...kept,
    assumptions,
    ...(points.length > 0 && {
      learning: {
        tokens: median(points.map(({ tokens }) => tokens)),
        seconds: median(points.map(({ seconds }) => seconds)) + otherSeconds(rl),
      },
    }),
    ...(work.rollout && { rollout: work.rollout }),
    ...(url && { engineUrl: url.trim() }),
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
  readonly engine?: { readonly baseUrl?: string };
  readonly sandbox?: { readonly servers?: number };
  readonly packing?: { readonly sharedPrefix: boolean };
  readonly rollout?: { readonly concurrency: number };
  readonly scheduler: Readonly<Record<string, unknown>>;
  readonly evaluation?: { readonly everySteps: number };
  readonly rl: { readonly groupSize: number; readonly minibatches?: number };
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
