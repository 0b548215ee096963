// Compares adapters with peft for every architecture: ours opened there, a step of AdamW of every
// matrix, and adapters made there opened and saved again here. `check.mjs` calls it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSafetensors } from '@saccade/nn/files';
import { createOptimizer } from '@saccade/optim';
import { createLocalPolicy, loadLocalPolicy, readModel } from '@saccade/policy';
import { distance, ids, norm, processor, randomize, written } from './architectures.mjs';
import { contextsOf } from './contexts.mjs';
import { shapes } from './shapes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const GATE = 1e-4;
// Relative, in the Frobenius norm of each matrix: where a gradient is as small as AdamW's ε, its rounding shows.
const STEP_GATE = 1e-5;
const ADAMW = { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0.1 };

/** Every linear layer of every part that a model has. */
const loraFor = (hasVision) => ({
  rank: 4,
  alpha: 6,
  rsLora: false,
  targets: {
    language: ['all-linear'],
    ...(hasVision && { merger: ['all-linear'], vision: ['all-linear'] }),
  },
});

function readFloats(path) {
  const bytes = readFileSync(path);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function largestDifference(a, b) {
  if (a.length !== b.length) return Infinity;
  return a.reduce((largest, value, i) => {
    const difference = Math.abs(value - b[i]);
    return Math.max(largest, difference);
  }, 0);
}

/** The largest relative difference of a matrix of two adapters, and how many matrices they have. */
async function adapterDifference(ours, theirs) {
  const file = 'adapter_model.safetensors';
  const [own, other] = [
    await readSafetensors(join(ours, file)),
    await readSafetensors(join(theirs, file)),
  ];
  const [ownNames, otherNames] = [own, other].map((one) => [...one.keys()].sort().join());
  if (ownNames !== otherNames) throw new Error(`Ours: ${ownNames}\nTheirs: ${otherNames}`);
  const errors = [...own].map(([name, { data }]) => {
    const reference = other.get(name).data;
    return distance(data, reference) / norm(reference);
  });
  return { worst: Math.max(...errors), count: own.size };
}

/** The first shape of an architecture in shards of bf16, with a text, or with an image. */
async function saveBase(root, architecture, device) {
  const [shape] = shapes[architecture];
  const directory = join(root, architecture);
  mkdirSync(directory);
  const model = readModel({ ...shape.config, ...ids });
  const contexts = contextsOf(shape, model, processor.tokens, {});
  const { tokens, images } = contexts.find(({ images }) => images.length === 1) ?? contexts[1];
  const base = createLocalPolicy({ device, model, processor, seed: 3, dtype: 'bf16' });
  randomize(base, 3);
  await base.save(join(directory, 'model'), { maxShardBytes: 100_000 });
  base.dispose();
  const rows = Int32Array.from({ length: tokens.length - 1 }, (_, i) => i);
  const weights = Float32Array.from(rows, (i) => Math.cos(i));
  const inputs = { ...written(directory, { tokens, images }), weights: [...weights], adamw: ADAMW };
  writeFileSync(join(directory, 'inputs.json'), JSON.stringify(inputs));
  const segment = { tokens, images: images.map(({ image }) => image), parent: -1 };
  const batch = { segments: [segment], rows, targets: Int32Array.from(tokens.slice(1)) };
  return { architecture, directory, batch, weights, hasVision: images.length > 0 };
}

/** An adapter of ours away from B = 0, where A has no gradient; its log-probs and a step of it. */
async function trainOurs({ directory, batch, weights, hasVision }, device) {
  const policy = await loadLocalPolicy({
    ...{ device, directory: join(directory, 'model'), dtype: 'f32' },
    ...{ lora: loraFor(hasVision), seed: 5 },
  });
  try {
    const loss = () => ({ loss: 0, gradLogprobs: weights });
    const [beta1, beta2] = ADAMW.betas;
    const settings = {
      ...{ beta1, beta2, eps: ADAMW.eps, weightDecay: ADAMW.weight_decay },
      maxGradNorm: 0,
    };
    const optimizer = createOptimizer({ name: 'adamw', settings });
    await policy.forwardBackward(batch, loss);
    await policy.optimizerStep({ learningRate: 0.05, optimizer });
    policy.resetOptimizer();
    await policy.save(join(directory, 'ours'));
    const { logprobs } = await policy.forwardBackward(batch, loss);
    await policy.optimizerStep({ learningRate: ADAMW.lr, optimizer });
    await policy.save(join(directory, 'own-step'));
    return logprobs;
  } finally {
    policy.dispose();
  }
}

/** The adapter that peft made: its log-probs here, and what is saved of it. */
async function openTheirs({ directory, batch }, device) {
  const policy = await loadLocalPolicy({
    ...{ device, directory: join(directory, 'model'), dtype: 'f32' },
    adapterDirectory: join(directory, 'theirs'),
  });
  try {
    const { logprobs } = await policy.score(batch);
    await policy.save(join(directory, 'again'));
    return logprobs;
  } finally {
    policy.dispose();
  }
}

/** Reports each comparison with what it found and what it may find. */
export async function checkAdapters(device, python, report) {
  const root = mkdtempSync(join(tmpdir(), 'saccade-adapters-'));
  try {
    const ours = new Map();
    const bases = [];
    for (const architecture of Object.keys(shapes)) {
      const base = await saveBase(root, architecture, device);
      bases.push(base);
      ours.set(architecture, await trainOurs(base, device));
    }
    execFileSync(python, [join(here, 'adapters.py'), ...bases.map(({ directory }) => directory)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error' },
    });
    for (const base of bases) {
      const { architecture, directory } = base;
      const at = (name) => join(directory, name);
      report(
        `${architecture}: our adapter on bf16 shards in peft, log-probs`,
        largestDifference(ours.get(architecture), readFloats(at('read.f32'))),
        GATE,
      );
      const step = await adapterDifference(at('own-step'), at('stepped'));
      report(
        `${architecture}: a step of AdamW on the ${step.count} matrices of an adapter, as torch’s`,
        step.worst,
        STEP_GATE,
      );
      report(
        `${architecture}: peft’s adapter here, log-probs`,
        largestDifference(await openTheirs(base, device), readFloats(at('write.f32'))),
        GATE,
      );
      const again = await adapterDifference(at('again'), at('theirs'));
      report(
        `${architecture}: peft’s adapter of ${again.count} matrices here, saved again`,
        again.worst,
        0,
      );
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
