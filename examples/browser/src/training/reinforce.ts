/** Reinforcement learning, a step on a page: schedule, roll out, score, batch, learn, tell. */
import { finishMetrics } from '@saccade/algorithms';
import { StateError } from '@saccade/core';
import type { Task } from '@saccade/gym';
import { scoreGroup } from '@saccade/rewards';
import { packTrajectories, runRollouts } from '@saccade/rollout';
import type { AdvantagedTrajectory, ScheduleCommand } from '@saccade/schedulers';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { cardsTask } from '../task/cards.ts';
import { rolloutNumbers } from './metrics.ts';
import type { Run, ShownGroup } from './run.ts';

/** Groups of a step that the page gets to show. */
const SHOWN_GROUPS = 2;

export async function reinforce(run: Run): Promise<void> {
  const { rl, evaluationEvery } = run.settings.preset;
  await evaluate(run, 0);
  for (let step = 0; step < rl.steps; step++) {
    await run.pass();
    const values = await trainStep(run, step);
    run.onEvent({ kind: 'step', stage: 'reinforcement', step: step + 1, values });
    run.onEvent({ kind: 'progress', stage: 'reinforcement', done: step + 1, total: rl.steps });
    const isDue = (step + 1) % evaluationEvery === 0 || step + 1 === rl.steps;
    if (isDue) await evaluate(run, step + 1);
  }
}

async function trainStep(run: Run, step: number): Promise<Record<string, number>> {
  const { parts, settings } = run;
  const { scheduler } = parts;
  const { coldStart, task } = settings.preset;
  let [schedule, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step });
  const count = commands.reduce((sum, c) => sum + (c.kind === 'rollOut' ? c.count : 0), 0);
  // Tasks the cold start has not shown.
  const first = coldStart.tours.count + coldStart.demonstrations.count + step * count;
  const tasks = Array.from({ length: count }, (_, i) => cardsTask(task, 'train', first + i));
  const rolloutStart = performance.now();
  const groups = await rollOut(run, tasks, `train/${step}`, settings.preset.rl.groupSize);
  const learnStart = performance.now();
  run.onEvent({ kind: 'trajectories', step: step + 1, groups: groups.slice(0, SHOWN_GROUPS) });

  const all: ScheduleCommand[] = [];
  for (const { task: rolledOut, trajectories } of groups) {
    const taskId = rolledOut.id;
    [schedule, commands] =
      trajectories.length === 0
        ? scheduler.next(schedule, { kind: 'groupFailed', taskId })
        : scheduler.next(schedule, { kind: 'groupScored', group: { taskId, trajectories } });
    all.push(...commands);
  }
  const learned = await learn(
    run,
    all.flatMap((command) => (command.kind === 'trainOn' ? command.trajectories : [])),
  );
  const rolled = groups.flatMap(({ trajectories }) => trajectories);
  return {
    ...rolloutNumbers(rolled),
    ...learned,
    rolloutSeconds: (learnStart - rolloutStart) / 1000,
    learnSeconds: (performance.now() - learnStart) / 1000,
  };
}

/** A scored group per task, in order; what failed around the model is left out of its group. */
async function rollOut(
  run: Run,
  tasks: readonly Task[],
  stream: string,
  groupSize: number,
): Promise<readonly ShownGroup[]> {
  const { parts, settings } = run;
  const { maxTurnTokens, maxContextTokens } = settings.preset;
  const { groups, failures } = await runRollouts(parts.policy, parts.makeEnv, tasks, {
    groupSize,
    seed: settings.seed,
    stream,
    maxTokensPerTurn: maxTurnTokens,
    maxContextTokens,
    images: parts.images,
    concurrency: tasks.length * groupSize,
    // A device that is lost stays lost.
    retries: 0,
  });
  const failed = Object.values(failures).reduce((sum, n) => sum + n, 0);
  if (failed === tasks.length * groupSize) {
    const message = groups[0]?.trajectories[0]?.failure?.message;
    throw new StateError(`Every rollout failed: ${message}`);
  }
  return groups.flatMap((group, index) => {
    const task = tasks[index];
    if (task === undefined) return [];
    return [{ task, trajectories: scoreGroup(group, task, parts.scoring).scored.trajectories }];
  });
}

/** One optimizer step; gradients are summed over micro-batches. */
async function learn(
  run: Run,
  trained: readonly AdvantagedTrajectory[],
): Promise<Record<string, number>> {
  const { policy, algorithm, images } = run.parts;
  const { rl, microBatchTokens } = run.settings.preset;
  // Every group agreed with itself: there is nothing to learn.
  if (trained.length === 0) return { loss: 0, trained: 0 };
  const { microBatches, counts } = await packTrajectories(trained, {
    images,
    maxTokens: microBatchTokens,
  });
  const sums: Readonly<Record<string, number>>[] = [];
  let loss = 0;
  for (const microBatch of microBatches) {
    const part = await policy.forwardBackward(microBatch.packed, ({ logprobs, entropy }) => {
      const { rolloutLogprobs: oldLogprobs } = microBatch;
      const result = algorithm.loss({ ...microBatch, logprobs, entropy, oldLogprobs }, counts);
      sums.push(result.metrics);
      return result;
    });
    loss += part.loss;
  }
  const { gradNorm } = await policy.optimizerStep({ learningRate: rl.learningRate });
  const { entropy = Number.NaN } = finishMetrics(sums, counts);
  return { loss, entropy, gradNorm, trained: trained.length };
}

/** One rollout of each held-out task, the same tasks every time. */
async function evaluate(run: Run, step: number): Promise<void> {
  const { heldOut } = run.parts;
  await run.pass();
  run.onEvent({ kind: 'progress', stage: 'evaluation', done: 0, total: heldOut.length });
  const groups = await rollOut(run, heldOut, 'evaluation', 1);
  const trajectories: ScoredTrajectory[] = groups.flatMap((group) => group.trajectories);
  const { accuracy, toolCalls } = rolloutNumbers(trajectories);
  run.onEvent({ kind: 'evaluation', step, accuracy, toolCalls, count: trajectories.length });
}
