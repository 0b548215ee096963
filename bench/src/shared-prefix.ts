/**
 * One training step of the main job's policy with each group's prompt packed once and packed per
 * rollout, in turns.
 *
 * The trajectories are guided tours of `needle`, executed in the sandbox: a prompt with the overview
 * of the image, one to four looks with theirs, an answer. Both ways give the same loss and the same
 * gradient norm, which is checked. Figures are medians; the first round warms up and is left out.
 */
import { reinforce } from '@saccade/algorithms';
import { nativeBackend } from '@saccade/backend-native';
import { demonstrate, needleCorpus, needleScript, tourMix } from '@saccade/data';
import { createToolEnv, protocols, taskSets } from '@saccade/gym';
import { createLearner, type Learner } from '@saccade/learner';
import { openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import { openSandbox, type Sandbox } from '@saccade/sandbox';
import type { AdvantagedTrajectory } from '@saccade/schedulers';
import { sandboxPython } from './sandbox-python.ts';
import { pairedRatio, type Ratio, type Sample, summarize } from './statistics.ts';

export interface SharedPrefixOptions {
  readonly rounds: number;
  readonly prompts: number;
  /** Trajectories of each prompt. */
  readonly group: number;
  readonly threads: number;
  readonly onRound?: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: SharedPrefixStep) => void;
}

export interface SharedPrefixStep {
  readonly what: string;
  readonly parameters: number;
  readonly tokens: { readonly shared: number; readonly repeated: number };
  /** Seconds of a step. */
  readonly shared: Sample;
  readonly repeated: Sample;
  /** Repeated / shared, of turns next to each other. */
  readonly ratio: Ratio;
}

interface Step {
  readonly seconds: number;
  readonly tokens: number;
  readonly loss: number;
  readonly gradNorm: number;
}

const protocol = protocols.get('pyvision-image-short');

/** @throws Error if the two ways of packing do not give the same loss and gradient */
export async function measureSharedPrefixStep(
  options: SharedPrefixOptions,
): Promise<SharedPrefixStep> {
  const processor = new QwenProcessor(trainTokenizer(needleCorpus(protocol), 512), {
    ...qwenImageProcessor,
    minPixels: 28 * 28,
    maxPixels: 112 * 112,
  });
  const images = new ModelImages(processor);
  const policy = createLocalPolicy({
    device: openDevice(nativeBackend({ threads: options.threads })),
    model: qwen2_5_vl.model(nanoConfig(processor.codec.vocabSize, processor.tokens)),
    processor,
    seed: 1,
  });
  const sandbox = await openSandbox({ python: await sandboxPython() });
  const items = await makeItems(sandbox, processor, images, options);
  await sandbox.dispose();
  const learner = (sharedPrefix: boolean): Learner =>
    createLearner({
      policy,
      images,
      algorithm: reinforce,
      // The weights stay as they are, so that both ways measure the same policy in every round.
      schedule: () => 0,
      microBatchTokens: 16_384,
      sharedPrefix,
    });
  const learners = { shared: learner(true), repeated: learner(false) };
  const steps: Record<'shared' | 'repeated', Step[]> = { shared: [], repeated: [] };
  const { parameterCount: parameters } = policy;
  const times = (kind: 'shared' | 'repeated'): number[] =>
    steps[kind].map(({ seconds }) => seconds);
  const result = (): SharedPrefixStep => ({
    what: `training step, ${options.prompts} prompts × ${options.group} trajectories of needle`,
    parameters,
    tokens: { shared: steps.shared[0]?.tokens ?? 0, repeated: steps.repeated[0]?.tokens ?? 0 },
    shared: summarize(times('shared')),
    repeated: summarize(times('repeated')),
    ratio: pairedRatio(times('repeated'), times('shared')),
  });
  try {
    for (let round = 0; round <= options.rounds; round++) {
      options.signal?.throwIfAborted();
      const shared = await step(learners.shared, items, round);
      const repeated = await step(learners.repeated, items, round);
      expectEqual(shared, repeated);
      options.onRound?.(
        `round ${round} of ${options.rounds}: shared ${shared.seconds.toFixed(2)} s, ` +
          `repeated ${repeated.seconds.toFixed(2)} s`,
      );
      if (round === 0) continue;
      steps.shared.push(shared);
      steps.repeated.push(repeated);
      options.keep?.(result());
    }
    return result();
  } finally {
    policy.dispose();
    policy.device.dispose();
  }
}

/** `group` tours for each of `prompts` tasks, with advantages of both signs. */
async function makeItems(
  sandbox: Sandbox,
  processor: QwenProcessor,
  images: ModelImages,
  { prompts, group }: SharedPrefixOptions,
): Promise<readonly AdvantagedTrajectory[]> {
  const tours = await Promise.all(
    Array.from({ length: group }, (_, seed) =>
      demonstrate({
        taskSet: taskSets.get('needle'),
        protocol,
        makeEnv: () => createToolEnv({ protocol, sandbox, budgets: { toolTurns: 4, images: 16 } }),
        processor,
        script: needleScript(tourMix),
        seed,
        count: prompts,
        images,
      }),
    ),
  );
  return tours.flat().map((trajectory, i) => ({
    trajectory: { ...trajectory, reward: 0, rewardTerms: {}, isCorrect: true },
    advantage: i % 2 === 0 ? 1 : -0.5,
    groupStd: 1,
    isMasked: false,
  }));
}

/** Packs, scores, differentiates −Σ A·logprob / tokens, and takes an optimizer step of rate 0. */
async function step(
  learner: Learner,
  items: readonly AdvantagedTrajectory[],
  round: number,
): Promise<Step> {
  const start = performance.now();
  const { metrics, tokenCount: tokens } = await learner.learn(items, round);
  const { loss = Number.NaN, grad_norm: gradNorm = Number.NaN } = metrics;
  return { seconds: (performance.now() - start) / 1000, tokens, loss, gradNorm };
}

function expectEqual(shared: Step, repeated: Step): void {
  const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-4 * Math.abs(b);
  if (isClose(shared.loss, repeated.loss) && isClose(shared.gradNorm, repeated.gradNorm)) return;
  throw new Error(
    `Different results: loss ${shared.loss} and ${repeated.loss}, ` +
      `gradient norm ${shared.gradNorm} and ${repeated.gradNorm}.`,
  );
}
