/** Numbers of a step by what its tasks call for: tools that are required, easy tasks and hard ones. */
import type { Task } from '@saccade/gym';
import {
  cropIous,
  orientationTools,
  type RewardContext,
  type ScoredGroupResult,
  type ToolRecord,
  toolRecord,
} from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { EvaluationSettings } from './evaluation-settings.ts';
import { countLooks, meanOf } from './trajectory-metrics.ts';

interface Entry {
  readonly trajectory: ScoredTrajectory;
  readonly context: RewardContext;
  readonly task: Task;
}

/**
 * For tasks that say what they require (`metadata.requiredTools`):
 *
 * - `must_use/turn/ratio` turned as required, of the tasks that require a turn or flip;
 * - `must_use/crop/ratio` a crop with IoU ≥ `cropIou`, of those that require a crop;
 * - `must_use/all/ratio` both, as far as required, of those that require anything;
 * - `needless_turns/ratio` turned or flipped, of those that require no turn.
 *
 * For tasks that say how hard they are (`metadata.difficulty`): `accuracy/<difficulty>` and
 * `tool_calls/<difficulty>/mean`. Metrics to which no task contributes are absent.
 */
export function taskMetrics(
  results: readonly ScoredGroupResult[],
  tasks: readonly Task[],
  { cropIou }: Pick<EvaluationSettings, 'cropIou'>,
): Record<string, number> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const entries = results.flatMap(({ scored, contexts }): Entry[] => {
    const task = byId.get(scored.taskId);
    if (task === undefined) return [];
    return scored.trajectories.map((trajectory, i) => ({
      trajectory,
      context: contexts[i] as RewardContext,
      task,
    }));
  });
  return { ...requiredMetrics(entries, cropIou), ...difficultyMetrics(entries) };
}

function requiredMetrics(entries: readonly Entry[], cropIou: number): Record<string, number> {
  const records = entries
    .filter(({ task }) => task.metadata.requiredTools !== undefined)
    .map(({ trajectory, context }) => usesOf(toolRecord(trajectory, context), cropIou));
  const share = (name: string, values: readonly (boolean | undefined)[]) =>
    meanOf(
      name,
      values.filter((value) => value !== undefined).map((value) => (value ? 1 : 0)),
    );
  const all = records.map(({ turned, cropped }) =>
    turned === undefined && cropped === undefined
      ? undefined
      : turned !== false && cropped !== false,
  );
  return {
    ...share(
      'must_use/turn/ratio',
      records.map(({ turned }) => turned),
    ),
    ...share(
      'must_use/crop/ratio',
      records.map(({ cropped }) => cropped),
    ),
    ...share('must_use/all/ratio', all),
    ...share(
      'needless_turns/ratio',
      records.map(({ turnedNeedlessly }) => turnedNeedlessly),
    ),
  };
}

/** Each undefined where the task does not ask for it. */
function usesOf(record: ToolRecord, cropIou: number) {
  const required = record.facts.requiredTools ?? [];
  const used = new Set<string>(record.core.map(({ kind }) => kind));
  const turns = required.filter((kind) => orientationTools.has(kind));
  const isUpright = turns.length === 0;
  return {
    turned: isUpright ? undefined : turns.every((kind) => used.has(kind)),
    turnedNeedlessly: isUpright ? [...used].some((kind) => orientationTools.has(kind)) : undefined,
    cropped: required.includes('crop')
      ? cropIous(record.facts, record.core, 'canonical').some((iou) => iou >= cropIou)
      : undefined,
  };
}

function difficultyMetrics(entries: readonly Entry[]): Record<string, number> {
  const known = new Map<string, ScoredTrajectory[]>();
  for (const { trajectory, task } of entries) {
    const { difficulty } = task.metadata;
    if (typeof difficulty !== 'string') continue;
    known.set(difficulty, [...(known.get(difficulty) ?? []), trajectory]);
  }
  return Object.assign(
    {},
    ...[...known].map(([difficulty, trajectories]) => ({
      ...meanOf(
        `accuracy/${difficulty}`,
        trajectories.map(({ isCorrect }) => (isCorrect ? 1 : 0)),
      ),
      ...meanOf(`tool_calls/${difficulty}/mean`, trajectories.map(countLooks)),
    })),
  );
}
