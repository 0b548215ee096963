/** Reinforcement learning, a step on a page: schedule, roll out, score, batch, learn, log. */
import { StateError } from '@saccade/core';
import type { Task } from '@saccade/gym';
import { auditedGroup, type ScoredGroupResult } from '@saccade/rewards';
import { runRollouts } from '@saccade/rollout';
import { countDrops, type ScheduleCommand } from '@saccade/schedulers';
import { auditMetrics } from './audit-metrics.ts';
import { evaluate, keep } from './evaluate.ts';
import { learn } from './learn.ts';
import { Interrupted, logRow, type Run, timed, totalSteps } from './run.ts';
import { saveRun } from './run-checkpoint.ts';
import { scoreRollouts } from './score-rollouts.ts';
import { taskMetrics } from './task-metrics.ts';
import { mean, positiveNegativeRatio, rolloutMetrics } from './trajectory-metrics.ts';

/** Runs the steps that are still to do. */
export async function reinforce(run: Run): Promise<void> {
  const { rl, evaluation, checkpoint } = run.config;
  while (run.state.rlSteps < rl.steps) {
    const [row, seconds] = await timed(() => step(run));
    logRow(run, { stage: 'rl', step: totalSteps(run.state), ...row, step_time: seconds });
    const { rlSteps } = run.state;
    run.onEvent({ kind: 'progress', stage: 'learning', done: rlSteps, total: rl.steps });
    const isLast = rlSteps === rl.steps;
    const isDue = (every: number) => every > 0 && rlSteps % every === 0 && !isLast;
    if (isDue(evaluation.everySteps)) await evaluate(run, `step-${rlSteps}`);
    if (run.isStopRequested()) {
      await saveRun(run);
      throw new Interrupted();
    }
    if (isDue(checkpoint.everyRlSteps)) await saveRun(run);
  }
}

async function step(run: Run): Promise<Record<string, number>> {
  const { config, state } = run;
  const [{ commands: all, results, tasks, rounds }, rolloutSeconds] = await timed(() =>
    schedule(run),
  );
  const groups = results.map(({ scored }) => scored);
  const trained = all.flatMap((c) => (c.kind === 'trainOn' ? c.trajectories : []));
  const [learned, learnSeconds] = await timed(() => learn(run, trained));

  run.state = {
    ...run.state,
    rlSteps: state.rlSteps + 1,
    tasksTaken: state.tasksTaken + tasks.length,
  };
  const every = config.keepTrajectoriesEverySteps;
  if (every > 0 && run.state.rlSteps % every === 0) {
    const kept = groups.flatMap(({ trajectories }) => trajectories);
    const name = `step-${String(run.state.rlSteps).padStart(6, '0')}`;
    await keep(run, name, kept, tasks, config.rl.groupSize);
  }
  const drops = Object.entries(countDrops(all)).flatMap(([reason, dropped]) => [
    [`filter/${reason}/groups`, dropped.groups],
    [`filter/${reason}/trajectories`, dropped.trajectories],
  ]);
  const [audited, auditSeconds] = await timed(async () =>
    auditMetrics(run, results.map(auditedGroup)),
  );
  const exhausted = all.find((command) => command.kind === 'exhausted');
  if (exhausted?.kind === 'exhausted') {
    const { filled, wanted } = exhausted;
    const message =
      `Step ${run.state.rlSteps}: after ${exhausted.rounds} rounds ${filled} of ${wanted} groups ` +
      'teach something; it trained on those.';
    run.onEvent({ kind: 'warning', message });
  }
  const values: Record<string, number> = {
    ...rolloutMetrics(groups),
    ...taskMetrics(results, tasks),
    ...audited,
    ...Object.fromEntries(drops),
    positive_negative_advantage_ratio: positiveNegativeRatio(trained),
    trained_trajectories: trained.length,
    ...(rounds > 1 && { 'schedule/rounds': rounds }),
    ...(exhausted !== undefined && { 'schedule/exhausted': 1 }),
    'failed/ratio':
      1 - mean(groups.map(({ trajectories }) => trajectories.length)) / config.rl.groupSize,
    ...failureCounts(results),
    ...learned,
    num_tokens: run.state.tokens,
    'time/rollout': rolloutSeconds,
    'time/learn': learnSeconds,
    'time/audit': auditSeconds,
  };
  return values;
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

/** What a step rolled out and what the scheduler said of it. */
interface Scheduled {
  readonly commands: readonly ScheduleCommand[];
  readonly results: readonly ScoredGroupResult[];
  readonly tasks: readonly Task[];
  readonly rounds: number;
}

/** Does what the scheduler tells, round by round, until it says what to train on. */
async function schedule(run: Run): Promise<Scheduled> {
  const { config, parts, state } = run;
  const { scheduler } = parts;
  let [schedulerState, commands] = scheduler.next(scheduler.init(), {
    kind: 'stepStarted',
    step: state.rlSteps,
  });
  // Tasks the cold start has not shown.
  const { demonstrations, tours } = config.sft;
  const first = demonstrations + tours + state.tasksTaken;
  const all: ScheduleCommand[] = [...commands];
  const results: ScoredGroupResult[] = [];
  const tasks: Task[] = [];
  let rounds = 0;
  const isDecided = () => all.some(({ kind }) => kind === 'trainOn');
  while (!isDecided()) {
    const count = commands.reduce((sum, c) => sum + (c.kind === 'rollOut' ? c.count : 0), 0);
    if (count === 0) {
      throw new StateError(
        `The scheduler ${scheduler.name} neither rolls out nor trains in step ${state.rlSteps}.`,
      );
    }
    rounds++;
    const indices = Array.from({ length: count }, (_, i) => first + tasks.length + i);
    const next = await Promise.all(indices.map((index) => parts.taskSet.task('train', index)));
    const scored = await rollOut(run, next);
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
  return { commands: all, results, tasks, rounds };
}

/** A scored group per task, in order, with what failed around the model or could not be scored. */
async function rollOut(run: Run, tasks: readonly Task[]): Promise<readonly ScoredGroupResult[]> {
  const { config, parts, state } = run;
  await parts.syncSampler();
  const { groups, failures } = await runRollouts(parts.sampler, parts.makeEnv, tasks, {
    groupSize: config.rl.groupSize,
    seed: config.seed,
    stream: `train/${state.rlSteps}`,
    temperature: config.rl.temperature,
    maxTokensPerTurn: config.rollout.maxTurnTokens,
    maxContextTokens: config.rollout.maxContextTokens,
    images: parts.images,
    sharedPrefix: config.sharedPrefix,
    concurrency: config.rollout.concurrency,
  });
  const failed = Object.values(failures).reduce((sum, n) => sum + n, 0);
  if (failed === tasks.length * config.rl.groupSize) {
    const { boundary, message } = groups[0]?.trajectories[0]?.failure ?? {};
    throw new StateError(
      `Every rollout of step ${state.rlSteps} failed; the first at the boundary "${boundary}": ` +
        `${message} Check the machine with \`saccade doctor\`, then go on with --resume.`,
    );
  }
  const results = await scoreRollouts(parts, groups, tasks);
  if (results.every(({ scored }) => scored.trajectories.length === 0)) {
    const { boundary, message } = results[0]?.failed[0]?.failure ?? {};
    throw new StateError(
      `No trajectory of step ${state.rlSteps} could be scored; the first failed at the boundary ` +
        `"${boundary}": ${message} Remedy that, then go on with --resume.`,
    );
  }
  return results;
}
