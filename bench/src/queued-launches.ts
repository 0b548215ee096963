/**
 * Launches queued beside launches that block JavaScript, in turns: sampling, a training step, what
 * the event loop waits meanwhile, and the way of one small array there and back.
 *
 *   node bench/dist/queued-launches.js [--rounds 9] [--threads 2] [--json file]
 *
 * 16 prompts of 64 tokens × 8 rollouts of 64 tokens, the policy of `grpo-step`. Both ways must give
 * the same bits, which is checked. Figures are medians; the first round warms up and is left out.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { add, type DeviceArray, openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  type PackedSegment,
  QwenProcessor,
  qwenImageProcessor,
  type SampleResult,
  trainTokenizer,
} from '@saccade/policy';
import { median } from './median.ts';

const [PROMPTS, GROUP, TOKENS, VOCAB] = [16, 8, 64, 512];
const TRIPS = 200;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    threads: { type: 'string', default: '2' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const threads = Number(values.threads);

type Launches = 'queued' | 'blocking';

function makePolicy(launches: Launches): LocalPolicy {
  const processor = new QwenProcessor(trainTokenizer([], 263), qwenImageProcessor);
  const config = { ...nanoConfig(VOCAB, processor.tokens), isTied: true };
  const device = openDevice(nativeBackend({ threads, launches }));
  return createLocalPolicy({ device, config, processor, seed: 1 });
}

function makePrompts(round: number): readonly Int32Array[] {
  const random = randomAt(round, 'prompts');
  return Array.from({ length: PROMPTS }, () =>
    Int32Array.from({ length: TOKENS }, () => 16 + random.integer(VOCAB - 16)),
  );
}

function sample(policy: LocalPolicy, prompts: readonly Int32Array[], round: number) {
  return Promise.all(
    prompts.flatMap((tokens, p) =>
      Array.from({ length: GROUP }, (_, g) =>
        policy.sample({
          tokens,
          images: [],
          maxTokens: TOKENS,
          stop: [],
          temperature: 1,
          seed: [round, p * GROUP + g],
          conversation: `${p}/${g}`,
          sharedPrefix: { key: `${p}`, length: TOKENS },
          ignoreEndOfTurn: true,
        }),
      ),
    ),
  );
}

/** Each prompt once, its rollouts behind it; −Σ ±logprob / tokens and a step of rate 0. */
async function trainStep(
  policy: LocalPolicy,
  prompts: readonly Int32Array[],
  rollouts: readonly SampleResult[],
): Promise<{ loss: number; gradNorm: number }> {
  const segments: PackedSegment[] = [];
  const [rows, targets]: [number[], number[]] = [[], []];
  let packed = 0;
  prompts.forEach((tokens, p) => {
    const parent = segments.push({ tokens, parent: -1, images: [] }) - 1;
    packed += tokens.length;
    const lastPromptRow = packed - 1;
    for (const rollout of rollouts.slice(p * GROUP, (p + 1) * GROUP)) {
      segments.push({ tokens: rollout.tokens, parent, images: [] });
      rollout.tokens.forEach((token, i) => {
        rows.push(i === 0 ? lastPromptRow : packed + i - 1);
        targets.push(token);
      });
      packed += rollout.tokens.length;
    }
  });
  const weights = targets.map((_, i) => ((i / TOKENS) % 2 < 1 ? -1 : 0.5) / targets.length);
  const batch = { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
  const { loss } = await policy.forwardBackward(batch, (logprobs) => ({
    loss: logprobs.reduce((sum, logprob, i) => sum + logprob * (weights[i] ?? 0), 0),
    gradLogprobs: Float32Array.from(weights),
  }));
  const { gradNorm } = await policy.optimizerStep({ learningRate: 0, maxGradNorm: 1 });
  return { loss, gradNorm };
}

interface Round {
  readonly sampleMilliseconds: number;
  readonly trainMilliseconds: number;
  /** Longest time that the event loop was late during the training step. */
  readonly loopDelayMilliseconds: number;
  /** One launch of 16 numbers and the read of its result. */
  readonly tripMicroseconds: number;
  /** Everything computed, to compare. */
  readonly digest: string;
}

async function measure(policy: LocalPolicy, round: number): Promise<Round> {
  const { device } = policy;
  const prompts = makePrompts(round);
  let start = performance.now();
  const rollouts = await sample(policy, prompts, round);
  const sampleMilliseconds = performance.now() - start;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await setImmediate();
  start = performance.now();
  const result = await trainStep(policy, prompts, rollouts);
  await device.synchronize();
  const trainMilliseconds = performance.now() - start;
  await setImmediate();
  delay.disable();
  const x = device.upload('f32', [1, 16], new Float32Array(16).fill(1));
  start = performance.now();
  for (let trip = 0; trip < TRIPS; trip++) {
    const { y } = device.forward(add, { a: x, b: x }) as { y: DeviceArray };
    await device.read(y);
    device.free(y);
  }
  const tripMicroseconds = ((performance.now() - start) * 1000) / TRIPS;
  device.free(x);
  const drawn = rollouts.map(({ tokens, logprobs }) => [[...tokens], [...logprobs]]);
  return {
    sampleMilliseconds,
    trainMilliseconds,
    loopDelayMilliseconds: delay.max / 1e6,
    tripMicroseconds,
    digest: JSON.stringify([drawn, result]),
  };
}

const policies = { queued: makePolicy('queued'), blocking: makePolicy('blocking') };
const measured: Record<Launches, Round[]> = { queued: [], blocking: [] };
for (let round = 0; round <= rounds; round++) {
  const queued = await measure(policies.queued, round);
  const blocking = await measure(policies.blocking, round);
  if (queued.digest !== blocking.digest) throw new Error(`Round ${round} gives other bits queued.`);
  if (round === 0) continue;
  measured.queued.push(queued);
  measured.blocking.push(blocking);
}
const figures = ['sampleMilliseconds', 'trainMilliseconds', 'loopDelayMilliseconds'] as const;
const result = {
  what: `${PROMPTS} prompts of ${TOKENS} tokens × ${GROUP} rollouts of ${TOKENS}: launches queued and blocking`,
  machine: `${cpus()[0]?.model.trim()}, ${threads} threads, Node ${process.versions.node}`,
  ...Object.fromEntries(
    [...figures, 'tripMicroseconds' as const].map((figure) => {
      const [queued, blocking] = [measured.queued, measured.blocking].map((list) =>
        list.map((round) => round[figure]),
      ) as [number[], number[]];
      return [
        figure,
        {
          queued: median(queued),
          blocking: median(blocking),
          ratio: median(queued.map((value, i) => value / (blocking[i] ?? Number.NaN))),
        },
      ];
    }),
  ),
};
console.log(JSON.stringify(result, null, 2));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
for (const policy of Object.values(policies)) {
  policy.dispose();
  policy.device.dispose();
}
