/**
 * One training step of the main job's policy with each group's prompt packed once and packed per
 * rollout, in turns.
 *
 *   node bench/dist/shared-prefix.js [--rounds 15] [--prompts 16] [--group 8] [--json file]
 *
 * The trajectories are guided tours of `needle`, executed in the sandbox: a prompt with the overview
 * of the picture, one to four looks with theirs, an answer. Both ways give the same loss and the same
 * gradient norm, which is checked. Figures are medians; the first round warms up and is left out.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nativeBackend } from '@saccade/backend-native';
import { demonstrate, needleCorpus, tourMix } from '@saccade/data';
import { createToolEnv, protocols, taskSets } from '@saccade/gym';
import { openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { ModelImages, packTrajectories } from '@saccade/rollout';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    prompts: { type: 'string', default: '16' },
    group: { type: 'string', default: '8' },
    json: { type: 'string' },
  },
});
const [rounds, prompts, group] = [values.rounds, values.prompts, values.group].map(Number) as [
  number,
  number,
  number,
];

const protocol = protocols.get('pyvision-image-short');
const processor = new QwenProcessor(trainTokenizer(needleCorpus(protocol), 512), {
  ...qwenImageProcessor,
  minPixels: 28 * 28,
  maxPixels: 112 * 112,
});
const images = new ModelImages(processor);
const policy = createLocalPolicy({
  device: openDevice(nativeBackend()),
  config: nanoConfig(processor.codec.vocabSize, processor.tokens),
  processor,
  seed: 1,
});
const venv = fileURLToPath(new URL('../../.cache/sandbox-venv', import.meta.url));
const sandbox = await openSandbox({ python: (await ensurePython(venv)).python });

/** `group` tours for each of `prompts` tasks, as items with advantages of both signs. */
async function makeItems() {
  const tours = await Promise.all(
    Array.from({ length: group }, (_, seed) =>
      demonstrate({
        taskSet: taskSets.get('needle'),
        makeEnv: () => createToolEnv({ protocol, sandbox, budgets: { toolTurns: 4, images: 16 } }),
        processor,
        mix: tourMix,
        seed,
        count: prompts,
        images,
      }),
    ),
  );
  return tours.flat().map((trajectory, i) => ({ trajectory, advantage: i % 2 === 0 ? 1 : -0.5 }));
}

interface Step {
  readonly milliseconds: number;
  readonly tokens: number;
  readonly loss: number;
  readonly gradNorm: number;
}

/** Packs, differentiates −Σ A·logprob / tokens and takes an optimizer step of rate 0. */
async function step(items: Awaited<ReturnType<typeof makeItems>>, sharedPrefix: boolean) {
  const start = performance.now();
  const packing = await packTrajectories(items, { images, maxTokens: 16_384, sharedPrefix });
  let [loss, tokens] = [0, 0];
  for (const { packed, advantages, tokenCount } of packing.microBatches) {
    const scale = 1 / packing.counts.tokens;
    const result = await policy.forwardBackward(packed, (logprobs) => ({
      loss: -scale * logprobs.reduce((sum, logprob, i) => sum + logprob * (advantages[i] ?? 0), 0),
      gradLogprobs: advantages.map((advantage) => -scale * advantage),
    }));
    loss += result.loss;
    tokens += tokenCount;
  }
  const { gradNorm } = await policy.optimizerStep({ learningRate: 0, maxGradNorm: 1 });
  const milliseconds = performance.now() - start;
  return { milliseconds, tokens, loss, gradNorm } satisfies Step;
}

const items = await makeItems();
const steps: Record<'shared' | 'repeated', Step[]> = { shared: [], repeated: [] };
for (let round = 0; round <= rounds; round++) {
  const shared = await step(items, true);
  const repeated = await step(items, false);
  const isClose = (a: number, b: number) => Math.abs(a - b) <= 1e-4 * Math.abs(b);
  if (!isClose(shared.loss, repeated.loss) || !isClose(shared.gradNorm, repeated.gradNorm)) {
    throw new Error(
      `Different results: loss ${shared.loss} and ${repeated.loss}, ` +
        `gradient norm ${shared.gradNorm} and ${repeated.gradNorm}.`,
    );
  }
  if (round === 0) continue;
  steps.shared.push(shared);
  steps.repeated.push(repeated);
}
const of = (kind: 'shared' | 'repeated') => ({
  tokens: steps[kind][0]?.tokens,
  milliseconds: median(steps[kind].map(({ milliseconds }) => milliseconds)),
});
const result = {
  what: `training step, ${prompts} prompts × ${group} trajectories of needle`,
  machine: `${cpus()[0]?.model.trim()}, ${cpus().length} threads, Node ${process.versions.node}`,
  parameters: policy.parameterCount,
  shared: of('shared'),
  repeated: of('repeated'),
  ratio: median(
    steps.repeated.map(
      ({ milliseconds }, i) => milliseconds / (steps.shared[i]?.milliseconds ?? Number.NaN),
    ),
  ),
};
console.log(JSON.stringify(result, null, 2));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
await sandbox.dispose();
policy.dispose();
policy.device.dispose();
