/** The numbers of an evaluation, from its samples on the disk. */
import {
  type Audited,
  detectors as allDetectors,
  auditRewards,
  type Detector,
} from '@saccade/rewards';
import type {
  Damage,
  EvaluatedTask,
  EvaluationResults,
  Measured,
  StoredEvaluation,
  SuiteFinding,
  SuiteResults,
} from '@saccade/run-store';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { bucketsOf } from './buckets.ts';
import { byTask, type IntervalOptions, measure } from './measured.ts';
import { type FactOptions, type SampleFacts, sampleFacts, storedContext } from './sample-facts.ts';

/** How an evaluation is measured. */
export interface MeasureOptions extends FactOptions, IntervalOptions {
  /** Detectors of reward hacking; default: all but `constant-term`, with their own thresholds. */
  readonly detectors?: readonly Detector[];
}

/** The defaults of `MeasureOptions`. */
export const measureDefaults: Required<Omit<MeasureOptions, 'detectors'>> = {
  shownShare: 0.5,
  level: 0.95,
  resamples: 2000,
  seed: 0,
};

/**
 * The results of an evaluation. They follow from the samples alone: not from their order, nor from how
 * often the evaluation was interrupted.
 *
 * @param damage receives what is not as it was written
 */
export function measureEvaluation(
  evaluation: StoredEvaluation,
  options: MeasureOptions = measureDefaults,
  damage: Damage[] = [],
): EvaluationResults {
  const suites = evaluation.suites.map(({ name, k }) => {
    const tasks = evaluation.tasks(name);
    damage.push(...tasks.damage);
    const samples = [...evaluation.samples(name, damage)].map(({ trajectory }) => trajectory);
    return [name, measureSuite(tasks.value, samples, k, options)] as const;
  });
  return {
    isComplete: suites.every(([, { missing }]) => missing === 0),
    suites: Object.fromEntries(suites),
  };
}

/** The facts of every sample of a suite, in the order of tasks and samples. */
export function factsOf(
  evaluation: Pick<StoredEvaluation, 'tasks' | 'samples'>,
  suite: string,
  options: FactOptions = measureDefaults,
): readonly SampleFacts[] {
  const byId = new Map(evaluation.tasks(suite).value.map((task) => [task.id, task]));
  const facts: SampleFacts[] = [];
  for (const { trajectory } of evaluation.samples(suite)) {
    const task = byId.get(trajectory.taskId);
    if (task === undefined) continue;
    const context = storedContext(trajectory, task);
    facts.push(sampleFacts(trajectory, context, task.index, options));
  }
  return byTask(facts).flat();
}

/** The numbers of one suite. */
export function measureSuite(
  tasks: readonly EvaluatedTask[],
  samples: Iterable<ScoredTrajectory>,
  k: number,
  options: MeasureOptions = measureDefaults,
): SuiteResults {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const found: SampleFacts[] = [];
  const groups = new Map<number, Audited[]>();
  for (const trajectory of samples) {
    const task = byId.get(trajectory.taskId);
    if (task === undefined || trajectory.sampleIndex >= k) continue;
    const context = storedContext(trajectory, task);
    found.push(sampleFacts(trajectory, context, task.index, options));
    const group = groups.get(task.index) ?? [];
    group.push({ trajectory, context });
    groups.set(task.index, group);
  }
  const facts = byTask(found).flat();
  return {
    ...measure(facts, k, options),
    k,
    missing: tasks.length * k - facts.length,
    level: options.level,
    slices: slicesIn(tasks, facts, k, options),
    buckets: bucketsOf(facts),
    findings: findingsIn(groups, options.detectors),
  };
}

function slicesIn(
  tasks: readonly EvaluatedTask[],
  facts: readonly SampleFacts[],
  k: number,
  options: MeasureOptions,
): SuiteResults['slices'] {
  const names = [...new Set(tasks.flatMap(({ slices }) => Object.keys(slices)))];
  const ofTask = new Map(tasks.map((task) => [task.index, task.slices]));
  const measured = names.map((name) => {
    const values = [...new Set(tasks.flatMap(({ slices }) => slices[name] ?? []))].sort(naturally);
    const own = values.map((value): [string, Measured] => [
      value,
      measure(
        facts.filter(({ taskIndex }) => ofTask.get(taskIndex)?.[name] === value),
        k,
        options,
        'accuracy',
      ),
    ]);
    return [name, Object.fromEntries(own)] as const;
  });
  return Object.fromEntries(measured);
}

const naturally = (a: string, b: string): number =>
  a.localeCompare(b, 'en', { numeric: true }) || (a < b ? -1 : 1);

/**
 * The detectors that mean something without training: a score that is the same for all samples teaches
 * nothing, but measures all the same.
 */
const evaluationDetectors = (): readonly Detector[] =>
  allDetectors
    .entries()
    .filter(([name]) => name !== 'constant-term')
    .map(([, detector]) => detector);

function findingsIn(
  groups: ReadonlyMap<number, readonly Audited[]>,
  detectors: readonly Detector[] | undefined,
): readonly SuiteFinding[] {
  const ordered = [...groups.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, group]) =>
      [...group].sort((a, b) => a.trajectory.sampleIndex - b.trajectory.sampleIndex),
    );
  const { findings } = auditRewards({ groups: ordered }, detectors ?? evaluationDetectors());
  return findings.map(({ detector, share, isAlarm, message }) => ({
    detector,
    share,
    isAlarm,
    message,
  }));
}
