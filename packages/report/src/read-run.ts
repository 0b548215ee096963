/** Reads what exists of a run directory: the report is made of nothing else. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeDamage,
  hasProfile,
  inspectConfig,
  inspectRun,
  type MetricsRow,
  readEnvironment,
  readMetrics,
  readTrajectorySet,
  WITHOUT_CHECKSUMS,
} from '@saccade/run-store';
import type { ScoredTrajectory, Tags, Trajectory } from '@saccade/trajectory';

/** One trajectory of an evaluation whose images are still on disk. */
export interface KeptTrajectory {
  readonly trajectory: Trajectory | ScoredTrajectory;
  readonly tags: Tags;
  /** Loads the images; one that cannot be read stays empty. */
  load(): Promise<Trajectory | ScoredTrajectory>;
}

/** The parts of a configuration that a report shows; every field may be missing. */
interface ShownConfig {
  readonly recipe?: string;
  readonly seed?: number;
  readonly model?: { readonly name: string };
  readonly taskSet?: { readonly name: string };
  readonly algorithm?: { readonly name: string };
  readonly backend?: { readonly name: string };
}

export interface RunRecord {
  readonly directory: string;
  readonly config?: ShownConfig;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly metrics: readonly MetricsRow[];
  /** Evaluation after the cold start, by task. */
  readonly before: ReadonlyMap<string, KeptTrajectory>;
  /** Evaluation at the end, by task. */
  readonly after: ReadonlyMap<string, KeptTrajectory>;
  /** Whether there is a profile, with a page beside the report. */
  readonly hasProfile: boolean;
  /** One sentence for each thing that is not there or cannot be read. */
  readonly gaps: readonly string[];
}

/** Reads what is available; what is missing or damaged becomes a sentence in `gaps`. */
export async function readRun(directory: string): Promise<RunRecord> {
  const { damage, isChecked } = await inspectRun(directory, { skips: ['checkpoints'] });
  const gaps = [
    ...(isChecked ? [] : [WITHOUT_CHECKSUMS]),
    ...damage.map((one) => describeDamage(one).replaceAll(`${directory}/`, '')),
  ];
  const config = inspectConfig(directory).value?.config as ShownConfig | undefined;
  const environment = readEnvironment(directory).value;
  if (!existsSync(join(directory, 'environment.json'))) gaps.push('environment.json is not there.');
  const metrics = readMetrics(directory).value.rows;
  if (metrics.length === 0) gaps.push('metrics.jsonl has no rows yet: there are no curves.');
  const before = readKept(directory, 'evaluation-sft', 'after the cold start', gaps);
  const after = readKept(directory, 'evaluation-final', 'at the end', gaps);
  return {
    directory,
    ...(config && { config }),
    ...(environment && { environment }),
    metrics,
    before,
    after,
    hasProfile: hasProfile(directory),
    gaps,
  };
}

function readKept(
  directory: string,
  name: string,
  when: string,
  gaps: string[],
): ReadonlyMap<string, KeptTrajectory> {
  const file = `trajectories/${name}.jsonl`;
  if (!existsSync(join(directory, file))) {
    gaps.push(`${file} is not there: the evaluation ${when} has not been done.`);
    return new Map();
  }
  const { value } = readTrajectorySet(directory, name);
  if (value.length === 0) gaps.push(`${file} has no trajectories that can be read.`);
  return new Map(
    value.map(({ trajectory, tags, load }) => [
      trajectory.taskId,
      // The page says in the place of an image that it is missing; the gaps say why.
      { trajectory, tags, load: async () => (await load()).value },
    ]),
  );
}
