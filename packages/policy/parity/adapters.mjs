// Compares adapters with peft, in both directions and over a step of AdamW, and the cache of
// downloaded models with huggingface_hub. `check.mjs` calls it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomAt } from '@saccade/core';
import { readSafetensors } from '@saccade/nn/files';
import { createOptimizer } from '@saccade/optim';
import {
  createLocalPolicy,
  loadLocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import sharp from 'sharp';

const here = dirname(fileURLToPath(import.meta.url));
const GATE = 1e-4;
// Relative to the largest element of each matrix.
const STEP_GATE = 1e-5;
const ADAMW = { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0.1 };

const processor = new QwenProcessor(trainTokenizer(['Which digit is hidden? '], 300), {
  ...qwenImageProcessor,
  maxPixels: 112 * 112,
});
const model = qwen2_5_vl.model(nanoConfig(300, processor.tokens));
const lora = {
  rank: 4,
  alpha: 6,
  rsLora: false,
  targets: { language: ['all-linear'], merger: ['mlp.2'], vision: ['attn.qkv', 'down_proj'] },
};

async function makePrompt() {
  const random = randomAt(1, 'pixels');
  const [width, height] = [140, 84];
  const pixels = Buffer.from(
    Uint8Array.from({ length: width * height * 3 }, () => random.integer(256)),
  );
  const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  const image = await processor.prepareImage(png);
  return processor.encodePrompt([
    { kind: 'image', image },
    { kind: 'text', text: 'Which digit is hidden here?' },
  ]);
}

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

/** The largest difference of a matrix, relative to its largest element, over all matrices. */
async function adapterDifference(ours, theirs) {
  const file = 'adapter_model.safetensors';
  const [own, other] = [
    await readSafetensors(join(ours, file)),
    await readSafetensors(join(theirs, file)),
  ];
  if ([...own.keys()].sort().join() !== [...other.keys()].sort().join()) return Infinity;
  let worst = 0;
  for (const [name, { data }] of own) {
    const scale = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    worst = Math.max(worst, largestDifference(data, other.get(name).data) / scale);
  }
  return worst;
}

/** Reports each comparison with what it found and what it may find. */
export async function checkAdapters(device, python, report) {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-adapters-'));
  const at = (name) => join(directory, name);
  const call = (mode, folder = directory) =>
    execFileSync(python, [join(here, 'adapters.py'), mode, folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error' },
    });
  try {
    const { tokens, images } = await makePrompt();
    const [image] = images;
    const batch = {
      segments: [{ tokens, images, parent: -1 }],
      rows: Int32Array.from({ length: tokens.length - 1 }, (_, i) => i),
      targets: tokens.slice(1),
    };
    const weights = Float32Array.from(batch.rows, (i) => Math.cos(i));
    writeFileSync(at('patches.f32'), image.patches);
    const inputs = {
      tokens: [...tokens],
      weights: [...weights],
      patchDim: image.patches.length / (image.gridHeight * image.gridWidth),
      gridHeight: image.gridHeight,
      gridWidth: image.gridWidth,
      adamw: ADAMW,
    };
    writeFileSync(at('inputs.json'), JSON.stringify(inputs));

    const base = createLocalPolicy({ device, model, processor, seed: 3, dtype: 'bf16' });
    await base.save(at('model'), { maxShardBytes: 1_000_000 });
    base.dispose();
    const policy = await loadLocalPolicy({
      device,
      directory: at('model'),
      dtype: 'f32',
      lora,
      seed: 5,
    });
    const loss = () => ({ loss: 0, gradLogprobs: weights });
    const optimizer = createOptimizer({
      name: 'adamw',
      settings: {
        beta1: ADAMW.betas[0],
        beta2: ADAMW.betas[1],
        eps: ADAMW.eps,
        weightDecay: ADAMW.weight_decay,
        maxGradNorm: 0,
      },
    });
    // Away from B = 0, where A has no gradient.
    await policy.forwardBackward(batch, loss);
    await policy.optimizerStep({ learningRate: 0.05, optimizer });
    policy.resetOptimizer();
    await policy.save(at('ours'));
    call('read');
    const { logprobs } = await policy.forwardBackward(batch, loss);
    report(
      'our adapter on bf16 shards in peft, log-probs',
      largestDifference(logprobs, readFloats(at('logprobs.f32'))),
      GATE,
    );
    await policy.optimizerStep({ learningRate: ADAMW.lr, optimizer });
    await policy.save(at('own-step'));
    report(
      'a step of AdamW on every matrix of an adapter, as torch’s',
      await adapterDifference(at('own-step'), at('stepped')),
      STEP_GATE,
    );
    policy.dispose();

    call('write');
    const theirs = await loadLocalPolicy({
      device,
      directory: at('model'),
      dtype: 'f32',
      adapterDirectory: at('theirs'),
    });
    const scores = await theirs.score(batch);
    report(
      'peft’s adapter here, log-probs',
      largestDifference(scores.logprobs, readFloats(at('logprobs.f32'))),
      GATE,
    );
    await theirs.save(at('again'));
    report(
      'peft’s adapter here, saved again',
      await adapterDifference(at('again'), at('theirs')),
      0,
    );
    theirs.dispose();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
