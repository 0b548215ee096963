// Compares every architecture with Hugging Face transformers: logits, log-probs and the gradient of
// every tensor, of texts, images and videos, for thin models with the shapes of published ones. Our
// weights are read there, and weights written there are read here.
//
//   node packages/policy/parity/architectures.mjs --python path/to/python [--only qwen3_vl]
//        [--backend reference] [--verbose]
//
// The Python needs the packages of requirements.txt beside this file.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { readSafetensors } from '@saccade/nn/files';
import { openDevice, referenceBackend } from '@saccade/ops';
import {
  createLocalPolicy,
  loadLocalPolicy,
  QwenProcessor,
  qwenImageProcessor,
  readModel,
  trainTokenizer,
} from '@saccade/policy';
import { attention, gatherRows, linear, linearLogprob, Tape, tensor } from '@saccade/tensor';
import { idsOf, imagesOf, shapes } from './shapes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
/** Largest relative difference, in the Frobenius norm of a tensor. */
const GATE = 1e-4;
/** Of the mean norm of a model's gradients: what is smaller is zero but for rounding. */
const NOTHING = 1e-4;
/** Targets whose log-probs are compared, of every row. */
const TARGETS = 4;

const { values: options } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    only: { type: 'string' },
    backend: { type: 'string', default: 'native' },
    verbose: { type: 'boolean', default: false },
  },
});
const device = openDevice(options.backend === 'reference' ? referenceBackend() : nativeBackend());
const processor = new QwenProcessor(trainTokenizer(['which '], 300), qwenImageProcessor);

/** Our weights: random values everywhere, so that no part of a formula can hide. */
function randomize(policy, seed) {
  for (const [name, weight] of Object.entries(policy.parameters)) {
    const random = randomAt(seed, 'parity', name);
    const [rows, ...rest] = weight.shape;
    const isVector = rest.length === 0;
    const spread = isVector ? 0.1 : 0.8 / Math.sqrt(weight.size / rows);
    const center = isVector && !name.endsWith('bias') ? 1 : 0;
    weight.write(
      Float32Array.from({ length: weight.size }, () => center + spread * random.normal()),
    );
  }
}

/** The contexts of one model. */
function casesOf(shape, model) {
  const random = randomAt(1, 'parity contexts', model.architecture);
  const words = (count) => Array.from({ length: count }, () => 20 + random.integer(280));
  const { images = [], video } = imagesOf(shape, processor.tokens);
  const contexts =
    images.length === 0
      ? [3, 17, 64].map((count) => [`text of ${count}`, [words(count)]])
      : [
          ['text', [words(17)]],
          ['image', [words(5), images[0], words(4)]],
          ['images', [words(2), images[0], images[1], words(3), images[0], words(6)]],
          ['video', [words(3), ...video, words(5)]],
        ];
  return contexts.map(([name, parts], index) => {
    const tokens = Int32Array.from(parts.flatMap((part) => part.tokens ?? part));
    const rows = Array.from({ length: tokens.length * TARGETS }, (_, i) => Math.floor(i / TARGETS));
    return {
      id: `case-${index}`,
      name,
      tokens,
      images: parts.flatMap((part) => (part.tokens === undefined ? [] : part.images)),
      rows,
      targets: rows.map(() => random.integer(model.vocabSize)),
      weights: rows.map(() => random.normal()),
    };
  });
}

/** Logits, log-probs and gradients by the names that transformers gives them. */
async function evaluate(policy, { tokens, images, rows, targets, weights }) {
  const { model, parameters } = policy;
  const names = Object.keys(parameters);
  const count = tokens.length;
  const tape = new Tape(names.map((name) => parameters[name]));
  const integers = (shape, values) => tensor(device, 'i32', shape, Int32Array.from(values));
  const { logits, logprobs } = tape.run(() => {
    const features = images.length > 0 ? model.encodeImages(device, parameters, images) : [];
    const { ids, temporal, height, width } = model.place(tokens, images, 0);
    const positions = Int32Array.from([...temporal, ...height, ...width]);
    const segments = integers([1, 3], [0, count, -1]);
    const x = model.decode(device, parameters, { ids, positions, features }, (_, q, k, v) =>
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

/** A tensor of transformers under the name of our parameter. */
function theirs(arrays, model, name) {
  if (!name.startsWith('grad.')) return arrays.get(name)?.data;
  const { name: stored, part, isTransposed } = model.storedAs(name.slice(5));
  const known = [stored, ...model.alternatives(stored)].find((one) => arrays.has(`grad.${one}`));
  if (known === undefined) return undefined;
  const { data, shape } = arrays.get(`grad.${known}`);
  // The module holds experts as we do, and transposes them where it stores them.
  void isTransposed;
  void shape;
  if (part === undefined) return data;
  const size = data.length / part.of;
  return data.subarray(part.index * size, (part.index + 1) * size);
}

function norm(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
}

function difference(a, b) {
  if (a === undefined || b === undefined || a.length !== b.length) return Number.NaN;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

let failures = 0;
/** By architecture and context: the largest differences. */
const table = new Map();

/** Compares one context; the largest relative difference of logits, log-probs and gradients. */
function compare(ours, arrays, doubles, model, label) {
  const gradients = [...ours.keys()].filter((name) => name.startsWith('grad.'));
  const floor =
    (NOTHING * gradients.reduce((sum, name) => sum + norm(ours.get(name)), 0)) / gradients.length;
  const largest = { logits: none, logprobs: none, gradients: none };
  for (const [name, values] of ours) {
    const expected = theirs(arrays, model, name);
    const exact = theirs(doubles, model, name);
    const isGradient = name.startsWith('grad.');
    const size = Math.max(expected === undefined ? 0 : norm(expected), isGradient ? floor : 0);
    const error = difference(values, expected) / size;
    const kind = isGradient ? 'gradients' : name;
    const isWorse = !(error <= largest[kind].error);
    if (isWorse) {
      const own = difference(values, exact) / size;
      const other = difference(expected ?? [], exact) / size;
      largest[kind] = { name, error, own, other };
    }
  }
  for (const [kind, { name, error, own, other }] of Object.entries(largest)) {
    const isGood = error <= GATE;
    if (!isGood) failures++;
    const of = kind === 'gradients' ? ` (${gradients.length} tensors, most ${name.slice(5)})` : '';
    console.log(
      `${isGood ? 'ok  ' : 'FAIL'}  ${label}, ${kind}${of}: largest difference ` +
        `${error.toExponential(2)}; from float64 ours ${own.toExponential(2)}, theirs ` +
        other.toExponential(2),
    );
  }
  return largest;
}

const none = { name: '', error: 0, own: 0, other: 0 };

const root = mkdtempSync(join(tmpdir(), 'saccade-architectures-'));
const entries = [];
try {
  for (const [architecture, list] of Object.entries(shapes)) {
    if (options.only !== undefined && options.only !== architecture) continue;
    for (const [index, shape] of list.entries()) {
      const model = readModel({ ...shape.config, ...idsOf(processor.tokens) });
      // The last shape comes back with weights that transformers wrote.
      for (const writes of index === list.length - 1 ? [false, true] : [false]) {
        const name = `${architecture}-${index}${writes ? '-written' : ''}`;
        const directory = join(root, name);
        mkdirSync(directory);
        const policy = createLocalPolicy({ device, model, processor, seed: 1 });
        randomize(policy, index);
        await policy.save(directory);
        const cases = casesOf(shape, model);
        const written = cases.map(({ images, ...rest }) => ({
          ...rest,
          tokens: [...rest.tokens],
          images: images.map(({ id, image }) => {
            writeFileSync(join(directory, `${id}.f32`), image.patches);
            const { grids = 1, gridHeight, gridWidth } = image;
            return {
              file: `${id}.f32`,
              kind: image.video === undefined ? 'image' : 'video',
              rows: grids * gridHeight * gridWidth,
              grid: [grids, gridHeight, gridWidth],
              ...(image.video?.secondsPerGrid !== undefined && {
                secondsPerGrid: image.video.secondsPerGrid,
              }),
            };
          }),
        }));
        entries.push({ name, architecture, directory, writes, policy, cases, written });
      }
    }
  }
  writeFileSync(
    join(root, 'models.json'),
    JSON.stringify(
      entries.map(({ name, writes, written }) => ({ directory: name, writes, cases: written })),
    ),
  );
  execFileSync(options.python, [join(here, 'architectures.py'), root], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      HF_HUB_OFFLINE: '1',
      TRANSFORMERS_VERBOSITY: 'error',
      TQDM_DISABLE: '1',
    },
  });
  for (const entry of entries) {
    const { architecture, directory, writes, cases } = entry;
    let { policy } = entry;
    if (writes) {
      policy.dispose();
      policy = await loadLocalPolicy({ device, directory });
    }
    for (const context of cases) {
      const images = context.images.map(({ image }) => image);
      const ours = await evaluate(policy, { ...context, images });
      const read = (type) => readSafetensors(join(directory, `${context.id}.${type}.safetensors`));
      const label = `${entry.name}, ${context.name}`;
      const largest = compare(ours, await read('f32'), await read('f64'), policy.model, label);
      const key = `${architecture} ${context.name.split(' ')[0]}`;
      const row = table.get(key) ?? {};
      for (const [kind, { error }] of Object.entries(largest)) {
        row[kind] = Math.max(row[kind] ?? 0, error);
      }
      table.set(key, row);
    }
    policy.dispose();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
device.dispose();
console.log('\nLargest relative differences, of all shapes:');
for (const [key, row] of table) {
  const cells = Object.entries(row).map(([kind, error]) => `${kind} ${error.toExponential(1)}`);
  console.log(`${key.padEnd(24)} ${cells.join('  ')}`);
}
console.log(failures === 0 ? 'Parity holds.' : `${failures} comparison(s) failed.`);
process.exit(failures === 0 ? 0 : 1);
