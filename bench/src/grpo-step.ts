/**
 * One GRPO step of a small text-only policy, sampling included, beside TRL's GRPOTrainer.
 *
 * Both sides sample 16 prompts × 8 rollouts of 64 tokens after 64-token prompts, then take one
 * optimizer step, on the same cores and turn by turn, so that whatever else the machine does hits
 * both. Figures are medians; the first round warms up and is left out.
 */
import { fileURLToPath } from 'node:url';
import { algorithms } from '@saccade/algorithms';
import type { LocalPolicy, SampleResult } from '@saccade/policy';
import { startJsonLines } from './peers/json-lines.ts';
import { pairedRatio, type Sample, summarise } from './statistics.ts';
import {
  COMPLETION_TOKENS,
  GROUP,
  makePolicy,
  makePrompts,
  PROMPT_TOKENS,
  PROMPTS,
  packGroups,
  sampleGroups,
} from './text-policy.ts';

export interface GrpoStepOptions {
  /** An interpreter with torch, transformers, trl and datasets. */
  readonly python: string;
  readonly rounds: number;
  readonly threads: number;
  readonly onRound?: (line: string) => void;
}

export interface GrpoStepResult {
  readonly what: string;
  readonly threads: number;
  readonly peers: Readonly<Record<string, string>>;
  readonly parameters: number;
  /** Seconds of a step. */
  readonly saccade: Sample;
  readonly trl: Sample;
  /** TRL's time / ours, of turns next to each other. */
  readonly ratio: Sample;
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

async function saccadeStep(policy: LocalPolicy, round: number): Promise<StepTime> {
  const grpo = algorithms.get('grpo');
  const prompts = makePrompts(round);
  const start = performance.now();
  const groups = await sampleGroups(policy, prompts, round);
  const { batch, offsets } = packGroups(prompts, groups);
  const rollouts = groups.flat();
  const count = batch.targets.length;
  const advantages = new Float32Array(count);
  const oldLogprobs = new Float32Array(count);
  groups.forEach((group, p) => {
    const values = grpo.groupAdvantages({ rewards: Float64Array.from(group, reward) });
    group.forEach(({ logprobs }, g) => {
      const sequence = p * GROUP + g;
      advantages.fill(values[g] ?? 0, offsets[sequence], offsets[sequence + 1]);
      oldLogprobs.set(logprobs, offsets[sequence]);
    });
  });
  const counts = { tokens: count, sequences: rollouts.length };
  await policy.forwardBackward(batch, ({ logprobs }) =>
    grpo.loss(
      {
        logprobs,
        oldLogprobs,
        advantages,
        lossMask: new Float32Array(count).fill(1),
        sequenceOffsets: offsets,
      },
      counts,
    ),
  );
  await policy.optimizerStep({ learningRate: 1e-6 });
  return { seconds: (performance.now() - start) / 1000, tokens: count };
}

/** @throws MissingError if the Python cannot run TRL */
export async function measureGrpoStep(options: GrpoStepOptions): Promise<GrpoStepResult> {
  const { python, rounds, threads, onRound } = options;
  const script = fileURLToPath(new URL('../peers/trl_grpo_step.py', import.meta.url));
  const trl = await startJsonLines(
    python,
    [script, '--threads', String(threads), '--steps', String(rounds + 1)],
    'torch, transformers, trl and datasets',
  );
  const policy = makePolicy(threads);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const mine = await saccadeStep(policy, round);
    const peer = (await trl.ask({ do: 'step' })) as unknown as StepTime;
    if (mine.tokens !== peer.tokens) {
      throw new Error(`Unequal work: ${mine.tokens} tokens here, ${peer.tokens} in TRL.`);
    }
    onRound?.(
      `round ${round}: Saccade ${mine.seconds.toFixed(2)} s, TRL ${peer.seconds.toFixed(2)} s`,
    );
    if (round === 0) continue;
    ours.push(mine.seconds);
    theirs.push(peer.seconds);
  }
  await trl.close();
  const parameters = policy.parameterCount;
  policy.device.dispose();
  return {
    what: `GRPO step, ${PROMPTS} prompts of ${PROMPT_TOKENS} tokens × ${GROUP} rollouts of ${COMPLETION_TOKENS}`,
    threads,
    peers: trl.ready.versions as Readonly<Record<string, string>>,
    parameters,
    saccade: summarise(ours),
    trl: summarise(theirs),
    ratio: pairedRatio(theirs, ours),
    rounds: { saccade: ours, trl: theirs },
  };
}
