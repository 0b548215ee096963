/**
 * One GRPO step of a small text-only policy, sampling included, beside TRL's GRPOTrainer.
 *
 * Both sides sample 16 prompts × 8 rollouts of 64 tokens after 64-token prompts, then take one
 * optimizer step, on the same cores and turn by turn, so that whatever else the machine does hits
 * both. Figures are medians; the first round warms up and is left out.
 */
import { fileURLToPath } from 'node:url';
import { algorithms } from '@saccade/algorithms';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  type PackedBatch,
  type PackedSegment,
  QwenProcessor,
  qwenImageProcessor,
  type SampleResult,
  trainTokenizer,
} from '@saccade/policy';
import { startJsonLines } from './peers/json-lines.ts';
import { pairedRatio, type Sample, summarise } from './statistics.ts';

const PROMPTS = 16;
const GROUP = 8;
const PROMPT_TOKENS = 64;
const COMPLETION_TOKENS = 64;
const VOCAB = 512;

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

function makePolicy(threads: number): LocalPolicy {
  const processor = new QwenProcessor(trainTokenizer([], 263), qwenImageProcessor);
  const config = { ...nanoConfig(VOCAB, processor.tokens), isTied: true };
  return createLocalPolicy({
    device: openDevice(nativeBackend({ threads })),
    config,
    processor,
    seed: 1,
  });
}

/** Text tokens only: ids of markup are left out. */
function makePrompts(round: number): readonly Int32Array[] {
  const random = randomAt(round, 'prompts');
  return Array.from({ length: PROMPTS }, () =>
    Int32Array.from({ length: PROMPT_TOKENS }, () => 16 + random.integer(VOCAB - 16)),
  );
}

/** Each prompt once, its rollouts behind it. */
function pack(prompts: readonly Int32Array[], groups: readonly (readonly SampleResult[])[]) {
  const segments: PackedSegment[] = [];
  const rows: number[] = [];
  const targets: number[] = [];
  const offsets = [0];
  let packed = 0;
  prompts.forEach((tokens, p) => {
    const parent = segments.push({ tokens, parent: -1, images: [] }) - 1;
    packed += tokens.length;
    const lastPromptRow = packed - 1;
    for (const rollout of groups[p] ?? []) {
      segments.push({ tokens: rollout.tokens, parent, images: [] });
      rollout.tokens.forEach((token, i) => {
        rows.push(i === 0 ? lastPromptRow : packed + i - 1);
        targets.push(token);
      });
      packed += rollout.tokens.length;
      offsets.push(rows.length);
    }
  });
  const batch: PackedBatch = {
    segments,
    rows: Int32Array.from(rows),
    targets: Int32Array.from(targets),
  };
  return { batch, offsets: Int32Array.from(offsets) };
}

/** Share of even tokens: cheap, and varies inside a group. TRL's side scores the same way. */
function reward({ tokens }: SampleResult): number {
  return tokens.filter((token) => token % 2 === 0).length / tokens.length;
}

async function saccadeStep(policy: LocalPolicy, round: number): Promise<StepTime> {
  const grpo = algorithms.get('grpo');
  const prompts = makePrompts(round);
  const start = performance.now();
  const groups = await Promise.all(
    prompts.map((tokens, p) =>
      Promise.all(
        Array.from({ length: GROUP }, (_, g) =>
          policy.sample({
            tokens,
            images: [],
            maxTokens: COMPLETION_TOKENS,
            stop: [],
            temperature: 1,
            seed: [round, p * GROUP + g],
            conversation: `${p}/${g}`,
            sharedPrefix: { key: `${p}`, length: PROMPT_TOKENS },
            ignoreEndOfTurn: true,
          }),
        ),
      ),
    ),
  );
  const { batch, offsets } = pack(prompts, groups);
  const rollouts = groups.flat();
  const count = batch.targets.length;
  const advantages = new Float32Array(count);
  const oldLogprobs = new Float32Array(count);
  groups.forEach((group, p) => {
    const values = grpo.advantages(Float64Array.from(group, reward));
    group.forEach(({ logprobs }, g) => {
      const sequence = p * GROUP + g;
      advantages.fill(values[g] ?? 0, offsets[sequence], offsets[sequence + 1]);
      oldLogprobs.set(logprobs, offsets[sequence]);
    });
  });
  const counts = { tokens: count, sequences: rollouts.length };
  await policy.forwardBackward(batch, (logprobs) =>
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
  await policy.optimizerStep({ learningRate: 1e-6, maxGradNorm: 1 });
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
