/**
 * One GRPO step of a text-only policy, sampling included, beside TRL's GRPOTrainer.
 *
 * Both sides sample 8 rollouts of 64 tokens after each 64-token prompt, then take one
 * optimizer step, on the same cores and turn by turn, so that whatever else the machine does hits
 * both. Figures are medians; the first round warms up and is left out.
 *
 * Ours is the step of a run: the learner packs, fixes the advantages and updates once. Both sides use
 * AdamW and clip the gradient's norm to 1, the default of either.
 */
import { fileURLToPath } from 'node:url';
import { grpo } from '@saccade/algorithms';
import { createLearner, type Learner } from '@saccade/learner';
import type { LocalPolicy, SampleResult } from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import type { AdvantagedTrajectory } from '@saccade/schedulers';
import { TrajectoryBuilder } from '@saccade/trajectory';
import { startJsonLines } from './peers/json-lines.ts';
import { pairedRatio, type Ratio, type Sample, summarize } from './statistics.ts';
import {
  COMPLETION_TOKENS,
  GROUP,
  makePolicy,
  makePrompts,
  type PolicySize,
  PROMPT_TOKENS,
  policySizes,
  sampleGroups,
} from './text-policy.ts';

export interface GrpoStepOptions {
  /** An interpreter with torch, transformers, trl and datasets. */
  readonly python: string;
  readonly rounds: number;
  readonly threads: number;
  readonly prompts: number;
  readonly size: PolicySize;
  readonly onRound?: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: GrpoStepResult) => void;
}

export interface GrpoStepResult {
  readonly what: string;
  readonly threads: number;
  readonly peers: Readonly<Record<string, string>>;
  /** Of the decoder, whose layers both have. */
  readonly size: PolicySize;
  readonly parameters: number;
  /** Seconds of a step. */
  readonly saccade: Sample;
  readonly trl: Sample;
  /** TRL's time / ours, of turns next to each other. */
  readonly ratio: Ratio;
  readonly rounds: { readonly saccade: readonly number[]; readonly trl: readonly number[] };
}

interface StepTime {
  readonly seconds: number;
  readonly tokens: number;
}

/** Share of even tokens: cheap, and varies inside a group. TRL's side scores the same way. */
function reward({ tokens }: SampleResult): number {
  return tokens.filter((token) => token % 2 === 0).length / tokens.length;
}

function makeLearner(policy: LocalPolicy, prompts: number): Learner {
  return createLearner({
    policy,
    algorithm: grpo,
    images: new ModelImages(policy.processor),
    schedule: () => 1e-6,
    // TRL takes its batch in one pass too.
    microBatchTokens: prompts * (PROMPT_TOKENS + GROUP * COMPLETION_TOKENS),
  });
}

/** The rollouts of a prompt as what a learner takes. */
function groupOf(
  tokens: Int32Array,
  taskId: string,
  rollouts: readonly SampleResult[],
): readonly AdvantagedTrajectory[] {
  const rewards = Float64Array.from(rollouts, reward);
  const advantages = grpo.groupAdvantages({ rewards });
  return rollouts.map((rollout, g) => {
    const made = new TrajectoryBuilder({ id: `${taskId}/${g}`, taskId, sampleIndex: g });
    made.prompt({ tokens, images: [], text: '' });
    made.model(rollout);
    made.turn({ kind: 'answer', answer: '' });
    const reward = rewards[g] ?? 0;
    return {
      trajectory: { ...made.finish('answered'), reward, rewardTerms: {}, isCorrect: false },
      advantage: advantages[g] ?? 0,
      groupStd: 0,
      isMasked: false,
    };
  });
}

async function saccadeStep(
  policy: LocalPolicy,
  learner: Learner,
  round: number,
  count: number,
): Promise<StepTime> {
  const prompts = makePrompts(round, count);
  const start = performance.now();
  const groups = await sampleGroups(policy, prompts, round);
  const trained = groups.flatMap((group, p) =>
    groupOf(prompts[p] ?? new Int32Array(0), `${round}/${p}`, group),
  );
  await learner.learn(trained, round);
  const seconds = (performance.now() - start) / 1000;
  return { seconds, tokens: groups.flat().reduce((sum, { tokens }) => sum + tokens.length, 0) };
}

/** @throws MissingError if the Python cannot run TRL */
export async function measureGrpoStep(options: GrpoStepOptions): Promise<GrpoStepResult> {
  const { python, rounds, threads, prompts, size, onRound } = options;
  const given = { threads, steps: rounds + 1, prompts, ...policySizes[size] };
  const script = fileURLToPath(new URL('../peers/trl_grpo_step.py', import.meta.url));
  const trl = await startJsonLines(
    python,
    [script, '--sizes', JSON.stringify(given)],
    'torch, transformers, trl and datasets',
  );
  const policy = makePolicy({ threads, size });
  const learner = makeLearner(policy, prompts);
  const ours: number[] = [];
  const theirs: number[] = [];
  const { parameterCount: parameters } = policy;
  const result = (): GrpoStepResult => ({
    what: `GRPO step of ${size} parameters, ${prompts} prompts of ${PROMPT_TOKENS} tokens × ${GROUP} rollouts of ${COMPLETION_TOKENS}`,
    threads,
    peers: trl.ready.versions as Readonly<Record<string, string>>,
    size,
    parameters,
    saccade: summarize(ours),
    trl: summarize(theirs),
    ratio: pairedRatio(theirs, ours),
    rounds: { saccade: [...ours], trl: [...theirs] },
  });
  try {
    for (let round = 0; round <= rounds; round++) {
      options.signal?.throwIfAborted();
      const mine = await saccadeStep(policy, learner, round, prompts);
      const peer = (await trl.ask({ do: 'step' })) as unknown as StepTime;
      if (mine.tokens !== peer.tokens) {
        throw new Error(`Unequal work: ${mine.tokens} tokens here, ${peer.tokens} in TRL.`);
      }
      onRound?.(
        `round ${round} of ${rounds}: Saccade ${mine.seconds.toFixed(2)} s, ` +
          `TRL ${peer.seconds.toFixed(2)} s`,
      );
      if (round === 0) continue;
      ours.push(mine.seconds);
      theirs.push(peer.seconds);
      options.keep?.(result());
    }
    return result();
  } finally {
    await trl.close();
    policy.device.dispose();
  }
}
