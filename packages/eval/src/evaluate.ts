/** Evaluation on held-out tasks: the same first tasks every time, one rollout each. */

import { type EventSink, span, stage, timed } from '@saccade/core';
import type { Task } from '@saccade/gym';
import { runRollouts } from '@saccade/rollout';
import { logRow, totalSteps, writeTrajectorySet } from '@saccade/run-store';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { boxInImage } from './box-in-image.ts';
import { errorMetrics } from './error-metrics.ts';
import type { EvaluatedRun } from './evaluated-run.ts';
import { faithfulnessOf } from './faithfulness-metrics.ts';
import { scoreRollouts } from './score-rollouts.ts';
import { sourceMetrics } from './source-metrics.ts';
import { suiteMetrics } from './suite/suite-metrics.ts';
import { taskMetrics } from './task-metrics.ts';
import { countLooks, mean, visualTokens } from './trajectory-metrics.ts';

/** Means of one evaluation over the held-out tasks whose rollout could be scored. */
export interface Evaluation {
  readonly accuracy: number;
  readonly toolCalls: number;
  readonly turns: number;
  readonly count: number;
}

/** Evaluates the policy as it is, logs a row, and keeps trajectories under `label`. */
export function evaluate(run: EvaluatedRun, label: string): Promise<Evaluation> {
  return stage('evaluation', () => evaluateAs(run, label));
}

async function evaluateAs(run: EvaluatedRun, label: string): Promise<Evaluation> {
  const { config, parts, onEvent } = run;
  const { temperature, topK, topP, minP } = config.evaluation;
  const count = Math.min(config.evaluation.count, parts.taskSet.size('heldOut'));
  const stage = `evaluation ${label}`;
  onEvent({ kind: 'progress', stage, done: 0, total: count });
  // The last of them is said once all is scored.
  const onRollout: EventSink = (event) => {
    if (event.kind === 'progress' && event.done < count) {
      onEvent({ kind: 'progress', stage, done: event.done, total: count });
    }
  };
  const tasks = await heldOut(run, count);
  await parts.syncSampler();
  const [{ groups }, seconds] = await timed(() =>
    runRollouts(parts.sampler, parts.makeEvaluationEnv, tasks, {
      groupSize: 1,
      seed: config.seed,
      stream: 'evaluation',
      temperature,
      topK,
      topP,
      minP,
      maxTokensPerTurn: config.rollout.maxTurnTokens,
      maxContextTokens: config.rollout.maxContextTokens,
      images: parts.images,
      sharedPrefix: false,
      concurrency: config.rollout.concurrency,
      retries: config.rollout.retries,
      events: onRollout,
    }),
  );
  const { retries } = config.rollout;
  const results = await scoreRollouts({ ...parts, retries }, groups, tasks);
  const scored = results.flatMap(({ scored: { trajectories } }) => trajectories);
  const result: Evaluation = {
    accuracy: mean(scored.map(({ isCorrect }) => (isCorrect ? 1 : 0))),
    toolCalls: mean(scored.map(countLooks)),
    turns: mean(scored.map(({ turns }) => turns.length)),
    count: scored.length,
  };
  const onWarning = (message: string): void => onEvent({ kind: 'warning', message });
  const ask = parts.judges?.errors;
  const toolUse = {
    ...faithfulnessOf(results, config.evaluation, onWarning),
    ...(await errorMetrics(results, {
      settings: config.evaluation,
      ...(ask && { judging: { ask, tasks } }),
      onWarning,
    })),
  };
  logRow(run, {
    stage: 'evaluation',
    step: totalSteps(run.state),
    label,
    'eval/accuracy': result.accuracy,
    'eval/tool_calls/mean': result.toolCalls,
    'eval/turns/mean': result.turns,
    'eval/visual_tokens/mean': mean(scored.map(visualTokens)),
    'eval/count': result.count,
    ...Object.fromEntries(
      Object.entries({
        ...taskMetrics(results, tasks, config.evaluation),
        ...sourceMetrics(results, tasks),
        ...toolUse,
      }).map(([name, value]) => [`eval/${name}`, value]),
    ),
    ...(await suiteMetrics(run)),
    'eval/step_of_rl': run.state.rlSteps,
    'time/evaluation': seconds,
  });
  await keep(run, `evaluation-${label}`, scored, tasks, config.evaluation.keepTrajectories);
  onEvent({ kind: 'progress', stage, done: count, total: count });
  return result;
}

const heldOutTasks = new WeakMap<EvaluatedRun, Promise<readonly Task[]>>();

function heldOut(run: EvaluatedRun, count: number): Promise<readonly Task[]> {
  let tasks = heldOutTasks.get(run);
  if (tasks === undefined) {
    const indices = Array.from({ length: count }, (_, i) => i);
    tasks = Promise.all(indices.map((i) => run.parts.taskSet.task('heldOut', i)));
    heldOutTasks.set(run, tasks);
  }
  return tasks;
}

/** Writes the first trajectories of a list with what the report shows of their tasks. */
export async function keep(
  run: EvaluatedRun,
  name: string,
  scored: readonly ScoredTrajectory[],
  tasks: readonly Task[],
  count: number,
): Promise<void> {
  if (count === 0) return;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const tagged = scored.slice(0, count).map((trajectory) => {
    const task = byId.get(trajectory.taskId);
    const tags = {
      question: task?.question ?? '',
      answer: task?.answer ?? '',
      box: (task && boxInImage(task))?.join(',') ?? '',
      // So that they can be audited and scored again without the task set.
      metadata: JSON.stringify(task?.metadata ?? {}),
    };
    return { trajectory, tags };
  });
  span('files/trajectories', () => writeTrajectorySet(run.directory, name, tagged));
}
