// Compares Saccade with Hugging Face transformers: the processors of published families, every
// architecture, and Qwen2.5-VL from picture to log-probs in both directions. Weights written here are
// read there, and weights written there are read here.
//
//   node packages/policy/parity/check.mjs --python path/to/python [--torchvision folder]
//
// `--models` compares architectures alone, `--others` all the rest: two processes take half the time.
// With `--every`, or SACCADE_SWEEP, all there is: each shape of an architecture on each of its inputs, thirty
// images and sixty conversations, and `saccade parity` on each of its cases, not on one architecture.
// With `--architecture qwen3_vl` it compares that architecture alone, and needs no torchvision; with
// `--random 10 --seed 3` models and images drawn at random, ten of each architecture.
//
// The Python needs the packages of requirements.txt beside this file, and torchvision. That may lie
// in a folder of its own (pip install --no-deps --target folder torchvision), where it was not
// built for the torch of the environment.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { openDevice } from '@saccade/ops';
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
import { checkAdapters } from './adapters.mjs';
import { checkArchitectures } from './architectures.mjs';
import { checkCommand } from './command.mjs';
import { checkProcessors } from './processors.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const GATE = 1e-4;
// Resizing gives Pillow's very bytes; what is left is the rounding of the normalization.
const PIXEL_GATE = 1e-6;

function flagValue(name, fallback) {
  const at = process.argv.indexOf(`--${name}`);
  return at > 0 ? process.argv[at + 1] : fallback;
}
const python = flagValue('python', 'python3');
const torchvision = flagValue('torchvision', undefined);
const architecture = flagValue('architecture', undefined);
const count = Number(flagValue('random', 0));
const drawn = count > 0 ? { count, seed: Number(flagValue('seed', 1)) } : undefined;
const isModelsAlone =
  process.argv.includes('--models') || architecture !== undefined || drawn !== undefined;
const every = process.argv.includes('--every') || process.env.SACCADE_SWEEP !== undefined;
if (!every) console.log('Some inputs are left out; --every compares all of them.');
const hasModels = !process.argv.includes('--others');
const needed = isModelsAlone
  ? ['torch', 'transformers', 'safetensors']
  : ['torch', 'transformers', 'safetensors', 'PIL', 'jinja2', 'peft', 'trl', 'torchvision'];
const search = `import importlib.util as u; assert all(map(u.find_spec, ${JSON.stringify(needed)}))`;
const processorEnvironment = {
  ...process.env,
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_VERBOSITY: 'error',
  ...(torchvision !== undefined && { PYTHONPATH: torchvision }),
};
try {
  execFileSync(python, ['-c', search], { stdio: 'pipe', env: processorEnvironment });
} catch {
  console.error(
    `${python} cannot import ${needed.join(', ')}. Install them with\n` +
      `  ${python} -m pip install -r ${join(here, 'requirements.txt')} torchvision`,
  );
  process.exit(2);
}

const processor = new QwenProcessor(
  trainTokenizer(['Which digit is hidden in the picture? ', '<code>', '<answer>'], 320),
  { ...qwenImageProcessor, maxPixels: 140 * 140 },
);
const nano = nanoConfig(320, processor.tokens);
// A window smaller than the images, so that windowed attention is part of the comparison.
const model = qwen2_5_vl.model({
  ...nano,
  vision: { ...nano.vision, windowSize: 56, fullAttentionBlocks: [1] },
});
const device = openDevice(nativeBackend());

async function makeImage(width, height, seed) {
  const random = randomAt(seed, 'picture');
  const pixels = Buffer.from(
    Uint8Array.from({ length: width * height * 3 }, (_, i) =>
      Math.min(255, ((i / 3) % width) + random.integer(90)),
    ),
  );
  const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  return { png, image: await processor.prepareImage(png) };
}

async function inputs() {
  const a = await makeImage(300, 210, 1);
  const b = await makeImage(56, 56, 2);
  const text = (content) => ({ kind: 'text', text: content });
  const shown = ({ image }) => ({ kind: 'image', image });
  const prompt = (parts, images) => ({
    ...processor.encodePrompt(parts),
    pngs: images.map(({ png }) => png),
    message: parts.map((part) =>
      part.kind === 'image' ? { type: 'image' } : { type: 'text', text: part.text },
    ),
  });
  return [
    prompt([text('Which digit is hidden? 2048 <code>, naïve — 図. Text only.')], []),
    prompt([text('Look: '), shown(a), text('Which digit?')], [a]),
    prompt([shown(b), text(' and '), shown(a), text('What is hidden?')], [b, a]),
  ];
}

/** Log-probs of the whole vocabulary at every position. */
async function allLogprobs(policy, { tokens, images }) {
  const V = policy.model.vocabSize;
  const count = tokens.length * V;
  const { logprobs } = await policy.score({
    segments: [{ tokens, images, parent: -1 }],
    rows: Int32Array.from({ length: count }, (_, i) => Math.floor(i / V)),
    targets: Int32Array.from({ length: count }, (_, i) => i % V),
  });
  return logprobs;
}

function readFloats(path) {
  const bytes = readFileSync(path);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function largestDifference(a, b) {
  if (a.length !== b.length) return Infinity;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

let failures = 0;
function report(what, error, gate) {
  const isGood = error <= gate;
  if (!isGood) failures++;
  console.log(`${isGood ? 'ok  ' : 'FAIL'}  ${what}: largest difference ${error.toExponential(2)}`);
}

function finish() {
  device.dispose();
  console.log(failures === 0 ? 'Parity holds.' : `${failures} comparison(s) failed.`);
  process.exit(failures === 0 ? 0 : 1);
}

try {
  // One architecture that is asked for is compared in full.
  const which = { only: architecture, drawn, every: every || architecture !== undefined };
  if (hasModels) await checkArchitectures({ device, python, env: process.env, ...which }, report);
} catch (error) {
  console.error(String(error.stderr ?? error.stack ?? error));
  failures++;
}
if (isModelsAlone) finish();
try {
  // A case takes a minute or two: its vocabulary is a published one.
  const only = every ? undefined : 'idefics3';
  const then = (root) =>
    checkCommand({ device, python, env: processorEnvironment, root, only }, report);
  await checkProcessors({ python, env: processorEnvironment, every, then }, report);
} catch (error) {
  console.error(String(error.stderr ?? error));
  failures++;
}
const items = await inputs();
for (const direction of ['read', 'write']) {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-parity-'));
  try {
    mkdirSync(join(directory, 'model'));
    let policy = createLocalPolicy({ device, model, processor, seed: 3 });
    await policy.save(join(directory, 'model'));
    const list = items.map(({ tokens, pngs, message, images }, i) => ({
      tokens: [...tokens],
      message,
      tokenCounts: images.map((image) => image.tokenCount),
      images: pngs.map((png, j) => {
        writeFileSync(join(directory, `image-${i}-${j}.png`), png);
        return `image-${i}-${j}.png`;
      }),
    }));
    writeFileSync(join(directory, 'inputs.json'), JSON.stringify(list));
    execFileSync(python, [join(here, 'reference.py'), direction, directory], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error' },
    });
    if (direction === 'write') {
      policy.dispose();
      policy = await loadLocalPolicy({ device, directory: join(directory, 'model') });
    }
    const author = direction === 'read' ? 'our weights in transformers' : 'their weights here';
    for (const [i, item] of items.entries()) {
      const kind = item.pngs.length === 0 ? 'text' : `${item.pngs.length} image(s)`;
      const theirs = readFloats(join(directory, `logprobs-${i}.f32`));
      const ours = await allLogprobs(policy, item);
      report(`${author}, ${kind}, log-probs`, largestDifference(ours, theirs), GATE);
      if (direction === 'read') {
        const rendered = JSON.parse(readFileSync(join(directory, `tokens-${i}.json`), 'utf8'));
        report(`${kind}, chat template and tokens`, largestDifference(item.tokens, rendered), 0);
      }
      item.images.forEach((image, j) => {
        const pixels = readFloats(join(directory, `pixels-${i}-${j}.f32`));
        const error = largestDifference(image.patches, pixels);
        if (direction === 'read') report(`image ${i}.${j}, pixel values`, error, PIXEL_GATE);
      });
    }
    policy.dispose();
  } catch (error) {
    console.error(String(error.stderr ?? error));
    failures++;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
try {
  await checkAdapters(device, python, report);
} catch (error) {
  console.error(String(error.stderr ?? error.stack ?? error));
  failures++;
}
finish();
