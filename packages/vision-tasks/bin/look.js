/**
 * Writes a contact sheet of tasks as a PNG file, with question and answer under each image.
 *
 *   node packages/vision-tasks/bin/look.js [task set] [split] [count] [first] [file]
 */
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';
import { Drawing } from '../dist/rendering/drawing.js';
import { typeface } from '../dist/rendering/typefaces.js';

const [name = 'charts-qa', split = 'train', count = '20', first = '0', file] =
  process.argv.slice(2);
const [columns, side, gap, size] = [4, 480, 16, 15];
const text = typeface('roboto');
const tasks = await Promise.all(
  Array.from({ length: Number(count) }, (_, i) =>
    visionTaskSets.get(name).task(split, Number(first) + i),
  ),
);

/** The lines of a text that fit the width of an image. */
function wrap(words) {
  const lines = [''];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (text.widthOf(longer, size) > side) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Images are wider than high, so this leaves no gap below them. */
const tall = side * 0.75;
const height = tall + 5 * size * 1.4 + gap;
const rows = Math.ceil(tasks.length / columns);
const sheet = new Drawing(columns * (side + gap) + gap, Math.ceil(rows * height + gap), '#dddddd');
const layers = [];
for (const [index, task] of tasks.entries()) {
  const left = gap + (index % columns) * (side + gap);
  const top = Math.round(gap + Math.floor(index / columns) * height);
  const image = task.images[0];
  const input = await sharp(image.png).resize(side, tall, { fit: 'inside' }).png().toBuffer();
  layers.push({ input, left, top });
  const { difficulty, program } = task.metadata;
  const operation = program?.operation === undefined ? '' : `, ${program.operation}`;
  const lines = [
    // The typefaces here have no sign of an angle, and a line of the sheet has one line.
    ...wrap(task.question.replaceAll('∠', 'angle ').replaceAll('\n', '  ')),
    ...wrap(`= ${task.answer} (difficulty ${difficulty}${operation})`),
  ];
  lines.forEach((line, row) => {
    sheet.text(line, left, top + tall + (row + 1) * size * 1.3, {
      typeface: text,
      size,
      color: '#000000',
    });
  });
}
const out = file ?? `${name}-${split}.png`;
const { png } = await sheet.toImage('sheet');
await sharp(png).composite(layers).png().toFile(out);
console.log(out);
