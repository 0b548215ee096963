/**
 * Measures how far a blind guess, a glance and the right tool get on held-out tasks of a family.
 *
 *   node packages/vision-tasks/bin/ceilings.js FAMILY [--tasks N] [--train N] [--glance PIXELS]
 *     [--seconds N] [--frames N] [--set NAME=VALUE ...] [--misses] [--write]
 *
 * blind: the most common answer in train to questions of the same type.
 * glance: the tool's program on images that were shrunk until their longer side is `--glance` pixels.
 * tool: the same program on the images as they are; where it gives no answer, the blind one counts.
 *
 * The program of a family is `quality/answers/FAMILY.mjs`, which exports:
 *
 *   uses          what it looks with, for the table
 *   tools         names of the visual tools that it calls
 *   questionType  task → what a blind guess may depend on; a string
 *   answer        ({ question, images }, eyes) → the answer as text, or undefined; see quality/eyes.mjs
 *   blindSettings settings that are fast to draw and leave the answers as likely; optional
 *   isRight       (given, task) → whether an answer counts; optional, see quality/is-right.mjs
 *
 * Frames of a film are its images, as many as `--frames` at equal distances.
 *
 * `--seconds` begins no task after so many seconds; the table says how many were done. `--misses` prints the
 * tasks that the tool gets wrong. `--write` puts the rows of the family into the tables of
 * quality/ceilings.md and keeps its text and the rows of other families.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { visionTaskSets } from '@saccade/vision-tasks';
import { imagesOf } from '../quality/avi-frames.mjs';
import { mergeCeilings, printed, rowsOf } from '../quality/ceilings-table.mjs';
import { openEyes, shrunk } from '../quality/eyes.mjs';
import { isRight as isPlainlyRight } from '../quality/is-right.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: 'string', default: '100' },
    train: { type: 'string', default: '400' },
    glance: { type: 'string', default: '224' },
    seconds: { type: 'string', default: 'Infinity' },
    frames: { type: 'string', default: '32' },
    set: { type: 'string', multiple: true, default: [] },
    misses: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const [family] = positionals;
if (family === undefined) throw new Error('Give the name of a family, such as charts-qa.');
const program = await import(`../quality/answers/${family}.mjs`);
const { answer, questionType, tools, uses, isRight = isPlainlyRight, blindSettings = {} } = program;
const given = values.set.map((each) => {
  const [name = '', value = ''] = each.split('=');
  return [name, Number.isNaN(Number(value)) ? value : Number(value)];
});
const taskSet = visionTaskSets.get(family).with(Object.fromEntries(given));
const blindSet = visionTaskSets.get(family).with({ ...blindSettings });

/** The most common answer of each question type, and of all. */
async function blindAnswers(count) {
  const answers = new Map([['', []]]);
  for (let index = 0; index < count; index++) {
    const task = await blindSet.task('train', index);
    const type = questionType(task);
    answers.set(type, [...(answers.get(type) ?? []), task.answer]);
    answers.get('').push(task.answer);
  }
  return new Map([...answers].map(([type, given]) => [type, mostCommon(given)]));
}

function mostCommon(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

const eyes = await openEyes(tools);
try {
  const blind = await blindAnswers(Number(values.train));
  const end = Date.now() + 1000 * Number(values.seconds);
  const scores = [];
  for (let index = 0; index < Number(values.tasks) && Date.now() < end; index++) {
    const task = await taskSet.task('heldOut', index);
    const { question } = task;
    const images = imagesOf(task, Number(values.frames));
    const guess = blind.get(questionType(task)) ?? blind.get('');
    const small = await Promise.all(images.map((image) => shrunk(image, Number(values.glance))));
    const seen = (await answer({ question, images: small }, eyes)) ?? guess;
    const found = (await answer({ question, images }, eyes)) ?? guess;
    scores.push({
      level: String(task.metadata.difficulty ?? task.metadata.level),
      blind: isRight(guess, task),
      glance: isRight(seen, task),
      tool: isRight(found, task),
    });
    if (values.misses && !isRight(found, task)) {
      console.error(`${task.id}: ${question}\n  expected ${task.answer}, got ${found}`);
    }
  }
  const rows = rowsOf(family, uses, scores);
  console.log(printed(rows));
  if (values.write) {
    const page = new URL('../quality/ceilings.md', import.meta.url);
    const before = await readFile(page, 'utf8');
    await writeFile(page, mergeCeilings(before, family, rows));
  }
} finally {
  await eyes.dispose();
}
