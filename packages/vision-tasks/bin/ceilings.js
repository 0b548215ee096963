/**
 * Measures how far one gets on a task set without looking closely.
 *
 *   node packages/vision-tasks/bin/ceilings.js [task set] [train tasks] [held-out tasks]
 *
 * blind: the most frequent answer in train to questions of the same operation and table.
 * glance: the answer of the train task of the same operation whose overview of 64 pixels is nearest.
 * Both are applied to held-out tasks; a number within the task's tolerance is right.
 */
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';

const OVERVIEW = 64;
const [name = 'charts-qa', trainCount = '400', heldOutCount = '200'] = process.argv.slice(2);
const taskSet = visionTaskSets.get(name);

/** [64·64] gray levels of an image squeezed to a square. */
async function overview({ png }) {
  return await sharp(png).resize(OVERVIEW, OVERVIEW, { fit: 'fill' }).grayscale().raw().toBuffer();
}

async function read(split, count) {
  const tasks = [];
  for (let index = 0; index < count; index++) {
    const { answer, images, metadata } = await taskSet.task(split, index);
    const operation = metadata.program?.operation ?? '';
    const template = `${operation} ${metadata.table ?? ''}`;
    tasks.push({ answer, operation, template, metadata, pixels: await overview(images[0]) });
  }
  return tasks;
}

function majority(tasks) {
  const counts = new Map();
  for (const { answer } of tasks) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function distance(a, b) {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] - b[index]) ** 2;
  return sum;
}

function isRight(guess, { answer, metadata }) {
  if (guess === answer) return true;
  const error = Math.abs(Number(guess) - Number(answer));
  return error <= (metadata.tolerance ?? 0) * Math.abs(Number(answer));
}

const train = await read('train', Number(trainCount));
const heldOut = await read('heldOut', Number(heldOutCount));
const scores = new Map();
for (const task of heldOut) {
  const alike = train.filter(({ operation }) => operation === task.operation);
  const sameTemplate = alike.filter(({ template }) => template === task.template);
  const blind = majority(sameTemplate.length > 0 ? sameTemplate : alike);
  const near = alike
    .map((other) => ({ answer: other.answer, far: distance(other.pixels, task.pixels) }))
    .sort((a, b) => a.far - b.far)[0]?.answer;
  for (const row of [task.operation, 'all']) {
    const score = scores.get(row) ?? { tasks: 0, blind: 0, glance: 0 };
    score.tasks++;
    score.blind += isRight(blind, task) ? 1 : 0;
    score.glance += isRight(near, task) ? 1 : 0;
    scores.set(row, score);
  }
}
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
console.log(`${name}: ${train.length} train, ${heldOut.length} held-out tasks`);
console.log('| operation | tasks | blind | glance |\n| --- | --- | --- | --- |');
for (const [row, { tasks, blind, glance }] of [...scores].sort()) {
  console.log(`| ${row} | ${tasks} | ${percent(blind, tasks)} | ${percent(glance, tasks)} |`);
}
