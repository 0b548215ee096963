// Compares every architecture with Hugging Face transformers: logits, log-probs and the gradient of
// every tensor, of texts, images and videos, for thin models with the shapes of published ones. Our
// weights are read there, and weights written there are read here.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { randomAt } from '@saccade/core';
import { readSafetensors } from '@saccade/nn/files';
import {
  createLocalPolicy,
  loadLocalPolicy,
  QwenProcessor,
  qwenImageProcessor,
  readModel,
  trainTokenizer,
} from '@saccade/policy';
import { attention, gatherRows, linear, linearLogprob, Tape, tensor } from '@saccade/tensor';
import { contextsOf } from './contexts.mjs';
import { randomShapes } from './random-shapes.mjs';
import { shapes, unusual } from './shapes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
/** Largest relative difference, in the Frobenius norm of a tensor. */
const GATE = 1e-4;
/** Of the mean norm of a model's gradients: what is smaller in float64 is zero, but for rounding. */
const ZERO = 1e-8;

/** The tokens of all models here; images come as patches. */
export const processor = new QwenProcessor(trainTokenizer(['which '], 300), qwenImageProcessor);
const { imageToken, videoToken, visionStartToken, visionEndToken } = processor.tokens;
/** Fields of a `config.json` that name them. */
export const ids = {
  image_token_id: imageToken,
  video_token_id: videoToken,
  vision_start_token_id: visionStartToken,
  vision_end_token_id: visionEndToken,
};

/** Our weights: random values everywhere, so that no part of a formula can hide. */
export function randomize(policy, seed) {
  for (const [name, weight] of Object.entries(policy.parameters)) {
    const random = randomAt(seed, 'parity', name);
    const [rows, ...rest] = weight.shape;
    const isVector = rest.length === 0;
    // Of experts every matrix has rows of its own.
    const fanIn = name.includes('.experts.') ? rest.at(-1) : weight.size / rows;
    const spread = isVector ? 0.1 : 0.8 / Math.sqrt(fanIn);
    const center = isVector && !name.endsWith('bias') ? 1 : 0;
    weight.write(
      Float32Array.from({ length: weight.size }, () => center + spread * random.normal()),
    );
  }
}

/** Logits, log-probs and gradients by the names of our parameters. */
async function evaluate(device, policy, { tokens, images: shown, rows, targets, weights }) {
  const { model, parameters } = policy;
  const images = shown.map(({ image }) => image);
  const names = Object.keys(parameters);
  const count = tokens.length;
  const tape = new Tape(names.map((name) => parameters[name]));
  const integers = (shape, values) => tensor(device, 'i32', shape, Int32Array.from(values));
  const { logits, logprobs } = tape.run(() => {
    const features = images.length > 0 ? model.encodeImages(device, parameters, images) : [];
    const at = model.place(tokens, images, 0);
    const positions = Int32Array.from([...at.temporal, ...at.height, ...at.width]);
    const segments = integers([1, 3], [0, count, -1]);
    const input = { ids: at.ids, positions, features };
    const x = model.decode(device, parameters, input, (_, q, k, v) =>
      attention(q, k, v, segments, { isCausal: true }),
    );
    const hidden = model.finalNorm(parameters, x);
    const head = model.head(parameters);
    const scored = gatherRows(hidden, integers([rows.length], rows));
    return {
      logits: linear(hidden, head),
      logprobs: linearLogprob(scored, head, integers([targets.length], targets), 1).logprobs,
    };
  });
  const result = new Map([
    ['logits', await logits.read()],
    ['logprobs', await logprobs.read()],
  ]);
  const seed = tensor(device, 'f32', [weights.length], Float32Array.from(weights));
  const gradients = tape.backward([[logprobs, seed]]);
  for (const [i, name] of names.entries()) {
    if (gradients[i] !== undefined) result.set(`grad.${name}`, await gradients[i].read());
  }
  tape.dispose();
  for (const one of gradients) one?.dispose();
  seed.dispose();
  return result;
}

/** The tensor of transformers that has a result of ours: its name, and the part of it. */
function counterpart(arrays, model, name) {
  if (!name.startsWith('grad.')) return { stored: name };
  const { name: stored, part } = model.storedAs(name.slice('grad.'.length));
  const names = [stored, ...model.alternatives(stored)].map((one) => `grad.${one}`);
  return { stored: names.find((one) => arrays.has(one)), part };
}

function theirs(arrays, { stored, part }) {
  const data = arrays.get(stored)?.data;
  if (data === undefined || part === undefined) return data;
  const size = data.length / part.of;
  return data.subarray(part.index * size, (part.index + 1) * size);
}

export function norm(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
}

export function distance(a, b) {
  if (a === undefined || b === undefined || a.length !== b.length) return Number.NaN;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

/**
 * The largest relative differences of logits, log-probs and gradients. Gradients that are zero in
 * exact arithmetic, such as those of a key's bias, are measured by the size of the others.
 */
function compare(ours, arrays, doubles, model) {
  const used = new Set();
  const pairs = [...ours].map(([name, values]) => {
    const place = counterpart(arrays, model, name);
    used.add(place.stored);
    const [single, exact] = [theirs(arrays, place), theirs(doubles, place)];
    const kind = name.startsWith('grad.') ? 'gradients' : name;
    return { name, kind, values, single, exact, size: norm(exact ?? []) };
  });
  const missing = [...arrays.keys()].filter((name) => !used.has(name));
  if (missing.length > 0) throw new Error(`No counterpart of ${missing.join(', ')}.`);
  const gradients = pairs.filter(({ kind }) => kind === 'gradients');
  const mean = gradients.reduce((sum, { size }) => sum + size, 0) / gradients.length;
  const largest = new Map();
  for (const { name, kind, values, single, exact, size } of pairs) {
    const scale = kind === 'gradients' && size < ZERO * mean ? mean : size;
    const error = distance(values, single) / scale;
    if (error <= (largest.get(kind)?.error ?? -1)) continue;
    const [own, other] = [distance(values, exact) / scale, distance(single, exact) / scale];
    largest.set(kind, { name: name.replace('grad.', ''), error, own, other });
  }
  return { largest, count: gradients.length };
}

/** Writes a context's images below a directory; the context as the Python side reads it. */
export function written(directory, { images, ...rest }) {
  return {
    ...rest,
    tokens: [...rest.tokens],
    images: images.map(({ id, image }) => {
      writeFileSync(join(directory, `${id}.f32`), image.patches);
      const { grids = 1, gridHeight, gridWidth, video } = image;
      const { secondsPerGrid } = video ?? {};
      return {
        file: `${id}.f32`,
        kind: video === undefined ? 'image' : 'video',
        grid: [grids, gridHeight, gridWidth],
        ...(secondsPerGrid !== undefined && { secondsPerGrid }),
      };
    }),
  };
}

/** The models that are compared; the last shape of an architecture comes back from transformers. */
function modelsOf(only, drawn, every) {
  const names = Object.keys(shapes).filter((one) => only === undefined || only === one);
  if (drawn !== undefined) {
    const { count, seed } = drawn;
    return names.flatMap((architecture) =>
      randomShapes(architecture, count, seed).map((shape, i) => ({
        name: `${architecture} random ${seed}.${i}`,
        shape,
        writes: i % 3 === 2,
      })),
    );
  }
  return names.flatMap((architecture) => [
    ...shapes[architecture].map((shape, i) => ({
      name: `${architecture} ${i}`,
      shape,
      ...(!every && { turn: i }),
    })),
    { name: `${architecture} written there`, shape: shapes[architecture].at(-1), writes: true },
    ...(unusual[architecture] === undefined
      ? []
      : [{ name: `${architecture} unusual`, shape: unusual[architecture], isUnusual: true }]),
  ]);
}

/** Every second input, by turns of the shapes: of the last one, which is written there, all are compared. */
function chosen(contexts, turn) {
  return contexts.filter((_, i) => i % 2 === turn % 2);
}

function save(root, { name, shape, writes = false, isUnusual = false, turn }, device, seed) {
  const directory = join(root, name.replaceAll(' ', '-'));
  mkdirSync(directory);
  const model = readModel({ ...shape.config, ...ids });
  const policy = createLocalPolicy({ device, model, processor, seed: 1 });
  randomize(policy, seed);
  const all = contextsOf(shape, model, processor.tokens, { isUnusual });
  const contexts = turn === undefined ? all : chosen(all, turn);
  return { name, directory, writes, policy, contexts };
}

function deferred() {
  let settle;
  const promise = new Promise((resolve, reject) => {
    settle = { resolve, reject };
  });
  // It may fail before anyone waits for it.
  promise.catch(() => {});
  return { promise, ...settle };
}

/**
 * Has transformers compute the models, in two processes side by side; of each model a promise that
 * its results are there.
 */
function reference({ python, env }, root, models) {
  const done = new Map(models.map(({ directory }) => [directory, deferred()]));
  for (const part of [0, 1]) {
    const own = models.filter((_, i) => i % 2 === part);
    const path = join(root, `models-${part}.json`);
    writeFileSync(path, JSON.stringify(own));
    const child = spawn(python, [join(here, 'architectures.py'), path], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error', TQDM_DISABLE: '1' },
    });
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
    });
    createInterface({ input: child.stdout }).on('line', (line) => done.get(line)?.resolve());
    child.on('close', (code) => {
      const error = new Error(`architectures.py ended with ${code}:\n${errors}`);
      for (const { directory } of own) done.get(directory).reject(error);
    });
  }
  return new Map([...done].map(([directory, { promise }]) => [directory, promise]));
}

/** Rows of the closing table: architecture and input, and the largest errors of all shapes. */
function tableRows(results) {
  const table = new Map();
  for (const { label, kind, error } of results) {
    const row = table.get(label) ?? new Map();
    row.set(kind, Math.max(row.get(kind) ?? 0, error));
    table.set(label, row);
  }
  return [...table].map(([label, row]) => {
    const cells = [...row].map(([kind, error]) => `${kind} ${error.toExponential(1)}`);
    return `      ${label.padEnd(64)} ${cells.join('  ')}`;
  });
}

/**
 * Compares every architecture, or one.
 *
 * @param only     name of the one
 * @param drawn    `{ count, seed }` of random shapes in the place of the written ones
 * @param every    whether each shape is compared on each input, not on every second one
 * @param report   takes what was compared, the largest difference, and the gate
 */
export async function checkArchitectures(
  { device, python, env, only, drawn, every = false },
  report,
) {
  const root = mkdtempSync(join(tmpdir(), 'saccade-architectures-'));
  const results = [];
  try {
    const entries = modelsOf(only, drawn, every).map((one, seed) => save(root, one, device, seed));
    for (const { policy, directory } of entries) await policy.save(directory);
    const listed = entries.map(({ directory, writes, contexts }) => ({
      directory,
      writes,
      contexts: contexts.map((context) => written(directory, context)),
    }));
    const computed = reference({ python, env }, root, listed);
    for (const { name, directory, writes, policy: own, contexts } of entries) {
      await computed.get(directory);
      if (writes) own.dispose();
      const policy = writes ? await loadLocalPolicy({ device, directory }) : own;
      for (const context of contexts) {
        const ours = await evaluate(device, policy, context);
        const read = (kind) =>
          readSafetensors(join(directory, `${context.id}.${kind}.safetensors`));
        const { largest, count } = compare(
          ours,
          await read('f32'),
          await read('f64'),
          policy.model,
        );
        for (const [kind, { name: of, error, own: mine, other }] of largest) {
          const refused = context.raises ? ' (refused there, placeholders pointed out)' : '';
          const what = kind === 'gradients' ? `${count} gradients, most ${of}` : kind;
          const doubles = `from float64 ${mine.toExponential(1)}, theirs ${other.toExponential(1)}`;
          report(`${name}, ${context.name}${refused}, ${what} (${doubles})`, error, GATE);
          const [architecture] = name.split(' ');
          results.push({ label: `${architecture}, ${context.name}`, kind, error });
        }
      }
      policy.dispose();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  console.log(['Largest relative differences, of all shapes:', ...tableRows(results)].join('\n'));
}
