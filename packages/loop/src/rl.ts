/** Reinforcement learning, a step on a page: schedule, roll out, score, batch, learn, log. */
import { stage, timed } from '@saccade/core';
import { scoreRollouts } from '@saccade/eval';
import type { Task } from '@saccade/gym';
import type { ScoredGroupResult } from '@saccade/rewards';
import { runRollouts } from '@saccade/rollout';
import type { ScheduleCommand } from '@saccade/schedulers';
import { afterStep } from './after-step.ts';
import { takesBaseline } from './baseline.ts';
import { nothingScored, stuckScheduler } from './loop-errors.ts';
import { meteredSampler, publish } from './metered.ts';
import { learnOptions, noteLearned, type Run, updatesDone } from './run.ts';
import { stepRow } from './step-row.ts';
import { readSchedule, writeSchedule } from './stored-schedule.ts';
import { reinforceStreaming } from './streaming.ts';
import { TrainingTasks } from './training-tasks.ts';

/** The memory of a scheduler of steps between them: its state, and the tasks it may repeat. */
interface Schedule {
  readonly tasks: TrainingTasks;
  /** Replaced, never changed. */
  state: unknown;
}

interface Stored {
  readonly known: readonly (readonly [string, number])[];
}

/** Runs the steps that are still to do. */
export async function reinforce(run: Run): Promise<void> {
  const { isStreaming = false } = run.parts.schedulerKind;
  const { rlSteps: done } = run.state;
  const { steps: total } = run.config.rl;
  if (done < total) run.onEvent({ kind: 'progress', stage: 'learning', done, total });
  // Where rollouts stream, learning and evaluations run beside them.
  if (isStreaming) {
    await stage('streaming', () => reinforceStreaming(run), { isConcurrent: true });
  } else await reinforceInSteps(run);
}

/** One after the other: the rollouts of a step, then what they teach. */
async function reinforceInSteps(run: Run): Promise<void> {
  const schedule = await openSchedule(run);
  while (run.state.rlSteps < run.config.rl.steps) {
    const [row, seconds] = await timed(() => stage('step', () => step(run, schedule)));
    await afterStep(run, row, seconds);
  }
}

async function openSchedule(run: Run): Promise<Schedule> {
  const { scheduler, schedulerKind } = run.parts;
  const { repeatsTasks = false } = schedulerKind;
  const fresh = { state: scheduler.init(), tasks: new TrainingTasks(run, repeatsTasks) };
  // The others forget all between two steps.
  if (!repeatsTasks) return fresh;
  const stored = run.resumedFrom && (await readSchedule<Stored>(run.resumedFrom));
  const schedule = stored
    ? { state: stored.state, tasks: new TrainingTasks(run, true, stored.more.known) }
    : fresh;
  run.saveSchedule = (directory) => {
    const { state, tasks } = schedule;
    return writeSchedule(directory, { state, more: { known: tasks.known }, trajectories: [] });
  };
  return schedule;
}

async function step(run: Run, schedule: Schedule): Promise<Record<string, number>> {
  const { work } = run.parts;
  // An evaluation before the step counts for none.
  work?.take();
  const endRollout = work?.phase('rollout');
  const [scheduled, rolloutSeconds] = await timed(() =>
    stage('rollout', () => gather(run, schedule)),
  );
  const rolledOut = { ...work?.take(), ...endRollout?.() };
  const endLearning = work?.phase('learn');
  const { commands } = scheduled;
  const trained = commands.flatMap((c) => (c.kind === 'trainOn' ? c.trajectories : []));
  const [learned, learnSeconds] = await timed(() =>
    stage('learning', () => run.learner.learn(trained, updatesDone(run), learnOptions(run))),
  );
  const used = { ...rolledOut, ...endLearning?.() };
  const metrics = noteLearned(run, learned);
  run.state = { ...run.state, rlSteps: run.state.rlSteps + 1 };
  const record = { ...scheduled, trained, learned: metrics };
  const row = await stage('metrics', () => stepRow(run, record), { rest: 'metrics' });
  return {
    ...row,
    ...used,
    'time/rollout': rolloutSeconds,
    'time/learn': learnSeconds,
  };
}

/** The rollouts of a step, and the scheduler's commands about it. */
interface Gathered {
  readonly commands: readonly ScheduleCommand[];
  readonly results: readonly ScoredGroupResult[];
  readonly tasks: readonly Task[];
  readonly rounds: number;
}

/** Does what the scheduler tells, round by round, until it says what to train on. */
async function gather(run: Run, schedule: Schedule): Promise<Gathered> {
  const { parts, state } = run;
  const { scheduler } = parts;
  const started = { kind: 'stepStarted', step: state.rlSteps } as const;
  let [schedulerState, commands] = scheduler.next(schedule.state, started);
  const all: ScheduleCommand[] = [...commands];
  const results: ScoredGroupResult[] = [];
  const tasks: Task[] = [];
  const seen = new Map<string, number>();
  let rounds = 0;
  const isDecided = () => all.some(({ kind }) => kind === 'trainOn');
  while (!isDecided()) {
    const indices = commands.flatMap((c) =>
      c.kind === 'rollOut'
        ? schedule.tasks.take(c.count)
        : c.kind === 'rollOutAgain'
          ? schedule.tasks.again(c.taskIds)
          : [],
    );
    if (indices.length === 0) {
      throw stuckScheduler(run);
    }
    rounds++;
    const next = await stage('tasks', () =>
      Promise.all(indices.map((index) => parts.taskSet.task('train', index))),
    );
    // A task that was measured in this step is sampled with new random numbers.
    const visit = Math.max(...next.map(({ id }) => seen.get(id) ?? 0));
    const scored = await rollOut(run, next, visit);
    for (const [i, task] of next.entries()) {
      schedule.tasks.note(task.id, indices[i] as number);
      seen.set(task.id, visit + 1);
    }
    tasks.push(...next);
    results.push(...scored);
    const told: ScheduleCommand[] = [];
    for (const [i, { scored: group }] of scored.entries()) {
      const event =
        group.trajectories.length === 0
          ? ({ kind: 'groupFailed', taskId: next[i]?.id ?? '' } as const)
          : ({ kind: 'groupScored', group } as const);
      const [after, answer] = scheduler.next(schedulerState, event);
      schedulerState = after;
      told.push(...answer);
    }
    commands = told;
    all.push(...told);
  }
  schedule.state = schedulerState;
  return { commands: all, results, tasks, rounds };
}

/**
 * A scored group per task, in order, with what failed around the model or could not be scored.
 *
 * @param visit times a task of these was rolled out in this step before
 */
async function rollOut(
  run: Run,
  tasks: readonly Task[],
  visit: number,
): Promise<readonly ScoredGroupResult[]> {
  const { config, parts, state } = run;
  const { rl, rollout } = config;
  await publish(run);
  const { groups } = await runRollouts(meteredSampler(parts), parts.makeEnv, tasks, {
    groupSize: rl.groupSize,
    greedyBaseline: takesBaseline(parts.algorithm),
    seed: config.seed,
    stream: visit === 0 ? `train/${state.rlSteps}` : `train/${state.rlSteps}+${visit}`,
    temperature: rl.temperature,
    topK: rl.topK,
    topP: rl.topP,
    minP: rl.minP,
    maxTokensPerTurn: rollout.maxTurnTokens,
    maxContextTokens: rollout.maxContextTokens,
    images: parts.images,
    sharedPrefix: config.packing.sharedPrefix,
    concurrency: rollout.concurrency,
    retries: rollout.retries,
    ...(rollout.deadlineSeconds !== undefined && { deadlineSeconds: rollout.deadlineSeconds }),
  });
  const score = () => scoreRollouts({ ...parts, retries: rollout.retries }, groups, tasks);
  const results = await stage('rewards', score, { rest: 'rewards' });
  const error = nothingScored(run, results);
  if (error !== undefined) throw error;
  return results;
}
