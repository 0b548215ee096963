/**
 * Builds MVToolBench's counterpart and the orientation diagnostic, with statistics and a sheet of samples.
 *
 *   node packages/vision-tasks/bin/mvtool.js [--out FOLDER] [--tasks N] [--diagnostic N] [--split SPLIT]
 *     [--samples N] [--set NAME=VALUE ...]
 *
 * Writes `FOLDER/mvtool` and `FOLDER/orientation-diagnostic` (CodeVision, arXiv:2512.03746, §4.1 and
 * Figure 1), each with `images/`, `metadata.jsonl` (an image folder of Hugging Face datasets), and
 * `statistics.md` and `statistics.json`; and `FOLDER/mvtool/samples.png`. `--set` gives settings of
 * mvtool, such as `--set seed=1`. What is there already is not drawn again. Ends with exit code 1 where a
 * set is not balanced, a target is too large, a question names a place, or a question comes twice.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';
import { posedImage } from '../dist/orientation/pose.js';
import { Drawing } from '../dist/rendering/drawing.js';
import { buildSet, spread, table, tally } from '../quality/build-set.mjs';
import { extentOf, GAP, linesOf, place } from '../quality/sheet.mjs';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'mvtoolbench' },
    tasks: { type: 'string', default: '500' },
    diagnostic: { type: 'string', default: '200' },
    split: { type: 'string', default: 'heldOut' },
    samples: { type: 'string', default: '20' },
    set: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  const [, text] = /\/\*\*([\s\S]*?)\*\//.exec(await readFile(new URL(import.meta.url), 'utf8'));
  console.log(text.replaceAll(/^ \* ?/gm, '').trim());
  process.exit(0);
}

/** Words for a place in a question would tell where to look; quotations are not the question's own. */
const PLACES = /\b(left|right(?! after)|above|below|top|bottom|corner|middle|upper|lower)\b/;

const settings = values.set.map((each) => {
  const [name = '', value = ''] = each.split('=');
  return [name, Number.isNaN(Number(value)) ? value : Number(value)];
});
const progress = (what) => (done, count) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${what}: ${done} of ${count}`);
  if (process.stderr.isTTY && done === count) process.stderr.write('\n');
};
const faults = [];

/** Each value of a fact comes as often as another, give or take one. */
function checkBalance(what, counts) {
  const numbers = counts.map(([, count]) => count);
  if (Math.max(...numbers) - Math.min(...numbers) <= 1) return;
  faults.push(`${what} are not balanced: ${counts.map((each) => each.join(' ')).join(', ')}.`);
}

async function writeStatistics(folder, title, parts, numbers) {
  const text = [`# ${title}`, ...parts.map(([name, body]) => `## ${name}\n\n${body}`)].join('\n\n');
  await writeFile(join(folder, 'statistics.md'), `${text}\n`);
  await writeFile(join(folder, 'statistics.json'), `${JSON.stringify(numbers, null, 2)}\n`);
}

const percent = (share) => `${(100 * share).toPrecision(3)} %`;

/** A task as it is given, and its target upright and enlarged. */
async function tileOf(folder, { file_name, question, answer, metadata }) {
  const [wide, tall] = [520, 390];
  const png = await readFile(join(folder, file_name));
  const small = await sharp(png).resize(wide, tall, { fit: 'inside' }).png().toBuffer();
  const size = await sharp(small).metadata();
  const whole = { input: small, width: size.width, height: size.height };
  const [left, top, right, bottom] = metadata.boxInImage;
  const { width, height } = await sharp(png).metadata();
  const from = [Math.max(0, left - 24), Math.max(0, top - 24)];
  const to = [Math.min(width, right + 24), Math.min(height, bottom + 24)];
  const region = { left: from[0], top: from[1], width: to[0] - from[0], height: to[1] - from[1] };
  const part = await sharp(png).extract(region).png().toBuffer();
  const undo =
    metadata.orientation === 'rotate_90'
      ? 'rotate_270'
      : metadata.orientation === 'rotate_270'
        ? 'rotate_90'
        : metadata.orientation;
  const { png: upright, ...extent } = await posedImage(undo, {
    name: 'part',
    png: part,
    width: 0,
    height: 0,
  });
  const scale = Math.min(3, wide / extent.width, 200 / extent.height);
  const shown = {
    width: Math.floor(extent.width * scale),
    height: Math.floor(extent.height * scale),
  };
  const input = await sharp(upright).resize(shown.width, shown.height).png().toBuffer();
  const remark = `(${metadata.orientation}; ${metadata.requiredTools.join(' + ')}; ${percent(metadata.share)})`;
  return {
    rows: [[whole], [{ input, ...shown }]],
    lines: linesOf({ question, answer }, wide, remark),
  };
}

async function writeSamples(folder, records, count) {
  const columns = 4;
  const chosen = records.slice(0, count);
  const ends = Array.from({ length: columns }, () => GAP);
  const placed = [];
  for (const record of chosen) {
    const tile = await tileOf(folder, record);
    const column = ends.indexOf(Math.min(...ends));
    placed.push([tile, GAP + column * (520 + GAP), ends[column]]);
    ends[column] += extentOf(tile).height + GAP;
  }
  const sheet = new Drawing(GAP + columns * (520 + GAP), Math.ceil(Math.max(...ends)), '#e4e4e4');
  const layers = placed.flatMap(([tile, x, y]) => place(sheet, tile, x, y));
  const { png } = await sheet.toImage('sheet');
  await sharp(png).composite(layers).png().toFile(join(folder, 'samples.png'));
}

async function buildMvtool() {
  const folder = join(values.out, 'mvtool');
  const given = Object.fromEntries(settings);
  const taskSet = visionTaskSets.get('mvtool').with(given);
  const largest = given.largestShare ?? 0.0001;
  const records = await buildSet(
    taskSet,
    given,
    values.split,
    Number(values.tasks),
    folder,
    progress('mvtool'),
  );
  const by = (fact) => tally(records, ({ metadata }) => fact(metadata));
  const orientations = by(({ orientation }) => orientation);
  const operations = by(({ program }) => program.operation);
  checkBalance('Turns and flips', orientations);
  checkBalance(
    'Pairs of question and turn',
    by((facts) => `${facts.program.operation} ${facts.orientation}`),
  );
  const shares = records.map(({ metadata }) => metadata.share);
  for (const { id, question, metadata } of records) {
    if (metadata.share > largest)
      faults.push(`${id} asks about ${percent(metadata.share)} of its image.`);
    if (PLACES.test(question.replaceAll(/“[^”]*”/g, '')))
      faults.push(`${id} names a place: ${question}`);
    const [turn, crop, ...rest] = metadata.requiredTools;
    const isChain = turn !== 'crop' && crop === 'crop' && rest.length === 0;
    if (!isChain)
      faults.push(`${id} takes ${metadata.requiredTools.join(', ')}, not a turn and a crop.`);
  }
  const questions = new Set(records.map(({ question, metadata }) => `${question} ${metadata.box}`));
  if (questions.size < records.length) faults.push('A question about the same place comes twice.');
  const [least, median, most] = spread(shares);
  const [width, middle, wide] = spread(
    records.map((record) => (record.width * record.height) / 1e6),
  );
  const cross = operations.map(([operation]) => [
    operation,
    ...orientations.map(([orientation]) => {
      const both = ({ metadata }) =>
        metadata.program.operation === operation && metadata.orientation === orientation;
      return records.filter(both).length;
    }),
  ]);
  await writeStatistics(
    folder,
    `mvtool: ${records.length} tasks of ${values.split}`,
    [
      ['Questions by turn', table(['question', ...orientations.map(([name]) => name)], cross)],
      [
        'Level',
        table(
          ['level', 'tasks'],
          by(({ level }) => level),
        ),
      ],
      [
        'Required tools',
        table(
          ['tools', 'tasks'],
          by(({ requiredTools }) => requiredTools.join(' + ')),
        ),
      ],
      [
        'Difficulty',
        table(
          ['difficulty', 'tasks'],
          by(({ difficulty }) => difficulty),
        ),
      ],
      [
        'Typeface',
        table(
          ['typeface', 'tasks'],
          by(({ typeface }) => typeface),
        ),
      ],
      [
        'Sizes',
        table(
          ['what', 'least', 'median', 'largest'],
          [
            ['target, share of the image', percent(least), percent(median), percent(most)],
            ['image, megapixels', width.toFixed(1), middle.toFixed(1), wide.toFixed(1)],
            ['answer, letters', ...spread(records.map(({ answer }) => answer.length))],
            [
              'file, megabytes',
              ...spread(records.map(({ bytes }) => bytes / 1e6)).map((size) => size.toFixed(1)),
            ],
          ],
        ),
      ],
    ],
    {
      tasks: records.length,
      orientations,
      operations,
      share: { least, median, most },
      questions: questions.size,
    },
  );
  await writeSamples(folder, records, Number(values.samples));
  return `${folder}: ${records.length} tasks; targets cover ${percent(median)} of an image in the median, ${percent(most)} at most`;
}

async function buildDiagnostic() {
  const folder = join(values.out, 'orientation-diagnostic');
  const count = Number(values.diagnostic);
  const taskSet = visionTaskSets.get('orientation-diagnostic').with({ images: Math.max(1, count) });
  const records = await buildSet(taskSet, {}, values.split, count, folder, progress('diagnostic'));
  const by = (fact) => tally(records, ({ metadata }) => fact(metadata));
  const orientations = by(({ orientation }) => orientation);
  const domains = by(({ domain }) => domain);
  checkBalance('Turns and flips of the diagnostic', orientations);
  checkBalance('Domains', domains);
  const images = new Set(records.map(({ metadata }) => metadata.of));
  if (images.size < records.length) faults.push('An image of the diagnostic comes twice.');
  await writeStatistics(
    folder,
    `orientation-diagnostic: ${records.length} images of ${values.split}`,
    [
      ['Transformation', table(['transformation', 'images'], orientations)],
      ['Domain', table(['domain', 'images'], domains)],
      [
        'Letter of the answer',
        table(
          ['letter', 'images'],
          tally(records, ({ answer }) => answer),
        ),
      ],
    ],
    { images: records.length, orientations, domains },
  );
  return `${folder}: ${records.length} images of ${domains.length} domains`;
}

const done = [];
if (Number(values.tasks) > 0) done.push(await buildMvtool());
if (Number(values.diagnostic) > 0) done.push(await buildDiagnostic());
for (const line of done) console.log(line);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
