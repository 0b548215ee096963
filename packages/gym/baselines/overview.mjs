// Measures what can be read of `needle` without a look: exports its images as the policy's context
// gets them, 448×448 shrunk to 112×112, and trains classifiers of the digit on them.
//
//   node packages/gym/baselines/overview.mjs --python path/to/python
//
// The Python needs the packages of requirements.txt beside this file.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { needle } from '@saccade/gym';
import { prepareImage, qwenImageProcessor } from '@saccade/policy';
import sharp from 'sharp';

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    train: { type: 'string', default: '20000' },
    'held-out': { type: 'string', default: '2000' },
    epochs: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(`What of the task set needle can be read from the overview alone.

  node packages/gym/baselines/overview.mjs [options]

  --python PATH   a Python with torch and numpy        (python3)
  --train N       tasks to train the classifiers on    (20000)
  --held-out N    tasks to count their answers on      (2000)
  --epochs N      passes over the training tasks       (4)

Exits with 1 if a classifier without a look is right more often than 40 %.`);
  process.exit(0);
}
for (const name of ['train', 'held-out', 'epochs']) {
  if (/^[1-9]\d*$/.test(values[name])) continue;
  console.error(`--${name} must be a whole number from 1, got ${values[name]}.`);
  process.exit(2);
}
const python = values.python;
try {
  execFileSync(python, ['-c', 'import torch, numpy'], { stdio: 'pipe' });
} catch {
  console.error(
    `${python} cannot import torch and numpy. Install them with\n` +
      `  ${python} -m pip install -r ${join(here, 'requirements.txt')}`,
  );
  process.exit(2);
}

/** The policy of the main job gets images of at most this area: a 448-pixel side becomes 112. */
const processor = { ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 112 * 112 };

/** Bytes [height, width, 3] of an image from the patches that a policy is given. */
function pixelsOf({ patches, width, height }) {
  const { patchSize, mergeSize, temporalPatchSize, mean, std } = processor;
  const pixels = new Uint8Array(height * width * 3);
  let from = 0;
  for (let top = 0; top < height; top += patchSize * mergeSize) {
    for (let left = 0; left < width; left += patchSize * mergeSize) {
      for (let patch = 0; patch < mergeSize ** 2; patch++) {
        const y0 = top + Math.floor(patch / mergeSize) * patchSize;
        const x0 = left + (patch % mergeSize) * patchSize;
        for (let c = 0; c < 3; c++) {
          for (let i = 0; i < patchSize ** 2; i++) {
            const at = (y0 + Math.floor(i / patchSize)) * width + x0 + (i % patchSize);
            pixels[at * 3 + c] = Math.round((patches[from + i] * std[c] + mean[c]) * 255);
          }
          // The other moments of a still image are the same.
          from += patchSize ** 2 * temporalPatchSize;
        }
      }
    }
  }
  return pixels;
}

/** Overviews, looks at the right place, and facts of the first `count` tasks of a split. */
async function writeTasks(directory, split, count) {
  const overviews = openSync(join(directory, `${split}.overviews`), 'w');
  const looks = openSync(join(directory, `${split}.looks`), 'w');
  const facts = openSync(join(directory, `${split}.jsonl`), 'w');
  for (let index = 0; index < count; index++) {
    const { images, answer, metadata } = await needle.task(split, index);
    const [{ png, width, height }] = images;
    const [left, top, right, bottom] = metadata.box;
    const overview = await prepareImage(png, processor);
    const look = { left, top, width: right - left, height: bottom - top };
    writeSync(overviews, pixelsOf(overview));
    writeSync(looks, await sharp(png).extract(look).raw().toBuffer());
    const toOverview = (box) => [
      (((box[0] + box[2]) / 2) * overview.width) / width,
      (((box[1] + box[3]) / 2) * overview.height) / height,
    ];
    const cards = [metadata.box, ...metadata.decoys].map(toOverview);
    writeSync(facts, `${JSON.stringify({ answer: Number(answer), cards })}\n`);
  }
  for (const file of [overviews, looks, facts]) closeSync(file);
}

const directory = mkdtempSync(join(tmpdir(), 'saccade-overview-'));
try {
  await writeTasks(directory, 'train', Number(values.train));
  await writeTasks(directory, 'heldOut', Number(values['held-out']));
  execFileSync(python, [join(here, 'overview.py'), directory, '--epochs', values.epochs], {
    stdio: 'inherit',
  });
} catch (error) {
  // The Python side prints which classifiers are right too often, and then exits with 1.
  if (error.status !== 1) console.error(String(error));
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
