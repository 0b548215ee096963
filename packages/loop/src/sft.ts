/** The cold start: supervised learning on demonstrations, on the model's tokens alone. */
import { ConfigError, stage, timed } from '@saccade/core';
import type { Mixture } from '@saccade/data';
import { createSupervisedLearner, type SupervisedLearner } from '@saccade/learner';
import { logRow, totalSteps } from '@saccade/run-store';
import { Interrupted, type Run } from './run.ts';
import { saveRun } from './run-checkpoint.ts';
import { unlessStopped } from './unless-stopped.ts';

/** Runs the updates of the cold start that are still to do. */
export async function coldStart(run: Run): Promise<void> {
  const { sft, checkpoint } = run.config;
  if (run.config.startFrom !== undefined || run.state.sftUpdates >= sft.updates) return;
  // Nothing is learned yet: a stop need not wait for the examples.
  const gathering = stage('examples', () => gather(run));
  const mixtures = await unlessStopped(run.isStopRequested, gathering);
  const { policy, images, sftOptimizer } = run.parts;
  const { packing, seed } = run.config;
  const learner = createSupervisedLearner({ policy, images, ...sftOptimizer, ...packing, seed });
  const progress = (): void => {
    const { sftUpdates: done } = run.state;
    run.onEvent({ kind: 'progress', stage: 'cold start', done, total: sft.updates });
  };
  progress();
  while (run.state.sftUpdates < sft.updates) {
    const [row, seconds] = await timed(() => stage('update', () => update(run, learner, mixtures)));
    logRow(run, { ...row, step_time: seconds });
    progress();
    const { sftUpdates } = run.state;
    const isLast = sftUpdates === sft.updates;
    if (run.isStopRequested()) {
      await saveRun(run);
      throw new Interrupted();
    }
    if (sftUpdates % checkpoint.everySftUpdates === 0 && !isLast) await saveRun(run);
  }
}

/** The examples of the run's cold start that go into its updates. */
async function gather({ config, parts, onEvent }: Run): Promise<readonly Mixture[]> {
  const { coldStart: unit, taskSet, makeEnv, images, protocol, policy } = parts;
  const all =
    (await unit?.gather({
      taskSet,
      protocol,
      makeEnv,
      images,
      processor: policy.processor,
      seed: config.seed,
      concurrency: config.rollout.concurrency,
      onEvent,
    })) ?? [];
  const mixtures = all.filter(({ examples, perUpdate }) => examples.length > 0 && perUpdate > 0);
  if (mixtures.length > 0) return mixtures;
  throw new ConfigError(
    'coldStart',
    `coldStart: ${unit?.name ?? 'none'} gives no examples, and sft.updates is ` +
      `${config.sft.updates}. Raise its numbers of examples, or set sft.updates=0.`,
  );
}

/** One update, as a row of metrics. */
async function update(run: Run, learner: SupervisedLearner, mixtures: readonly Mixture[]) {
  const { state } = run;
  const { loss, losses, gradNorm, learningRate, tokenCount } = await learner.learn(
    mixtures,
    state.sftUpdates,
  );
  const tokens = state.tokens + tokenCount;
  run.state = { ...state, sftUpdates: state.sftUpdates + 1, tokens };
  return {
    stage: 'sft' as const,
    step: totalSteps(run.state),
    loss,
    ...Object.fromEntries(Object.entries(losses).map(([kind, one]) => [`loss/${kind}`, one])),
    grad_norm: gradNorm,
    learning_rate: learningRate,
    num_tokens: tokens,
  };
}
