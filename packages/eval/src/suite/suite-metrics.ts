/** Suites within a training run: drawn anew at every evaluation, kept in memory, logged as metrics. */
import type { EvaluatedTask } from '@saccade/run-store';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { EvaluatedRun } from '../evaluated-run.ts';
import { measureDefaults, measureSuite } from '../measure/measure-evaluation.ts';
import { drawSamples, type SampleSink } from './draw-samples.ts';
import type { OpenSuite } from './open-suite.ts';
import { SuiteTasks } from './suite-tasks.ts';

/** Resamples of the bootstrap: intervals are not logged, so few suffice. */
const RESAMPLES = 2;

const tasksOf = new WeakMap<
  OpenSuite,
  { readonly tasks: SuiteTasks; readonly listed: Promise<readonly EvaluatedTask[]> }
>();

/**
 * `eval/<suite>/accuracy` (avg@k), `/pass_at_k`, `/maj_at_k`, `/tool_calls`, `/turns`,
 * `/visual_tokens`, `/tokens` and `/missing` of every suite of a run. The sampler must have the
 * policy's weights.
 */
export async function suiteMetrics(run: EvaluatedRun): Promise<Readonly<Record<string, number>>> {
  const rows: Record<string, number> = {};
  for (const suite of run.parts.suites ?? []) {
    for (const [name, value] of Object.entries(await metricsOf(run, suite))) {
      rows[`eval/${suite.name}/${name}`] = value;
    }
  }
  return rows;
}

async function metricsOf(
  { parts, config, onEvent }: EvaluatedRun,
  suite: OpenSuite,
): Promise<Readonly<Record<string, number>>> {
  const known = tasksOf.get(suite) ?? listed(suite, onEvent);
  tasksOf.set(suite, known);
  const samples: ScoredTrajectory[] = [];
  const tasks = await known.listed;
  const { concurrency, retries } = config.rollout;
  const drawn = await drawSamples(suite, known.tasks, tasks, memorySink(samples), {
    ...{ sampler: parts.sampler, images: parts.images, seed: config.seed },
    ...{ concurrency, retries, onEvent },
  });
  for (const [boundary, message] of Object.entries(drawn.reasons)) {
    onEvent({ kind: 'warning', message: `Suite ${suite.name}: ${boundary} failed: ${message}` });
  }
  const { shownShare } = config.evaluation;
  const { k } = suite;
  const options = { ...measureDefaults, shownShare, resamples: RESAMPLES, detectors: [] };
  const { metrics } = measureSuite(tasks, samples, k, options);
  const named: Readonly<Record<string, number | undefined>> = {
    accuracy: metrics[`avg@${k}`],
    ...(k > 1 && { pass_at_k: metrics[`pass@${k}`], maj_at_k: metrics[`maj@${k}`] }),
    tool_calls: metrics['tool_calls/mean'],
    turns: metrics['turns/mean'],
    tokens: metrics['tokens/mean'],
    visual_tokens: metrics['visual_tokens/mean'],
    missing: drawn.missing,
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}

function listed(suite: OpenSuite, onEvent: EvaluatedRun['onEvent']) {
  const tasks = new SuiteTasks(suite);
  return { tasks, listed: tasks.list(onEvent) };
}

/** Every evaluation draws all samples anew: the policy has changed. */
function memorySink(samples: ScoredTrajectory[]): SampleSink {
  return {
    has: () => false,
    unscored: async () => undefined,
    addScored: (trajectory) => samples.push(trajectory),
    addUnscored: () => {},
  };
}
