/**
 * Writes a contact sheet of tasks as a PNG file, with question and answer under the images of each.
 *
 *   node packages/vision-tasks/bin/look.js [task set] [split] [count] [first] [file] [columns]
 */
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';
import { Drawing } from '../dist/rendering/drawing.js';
import { typeface } from '../dist/rendering/typefaces.js';

const [name = 'charts-qa', split = 'train', count = '20', first = '0', file, across = '4'] =
  process.argv.slice(2);
const [pageWidth, gap, size] = [2000, 16, 15];
const columns = Number(across);
const side = Math.floor((pageWidth - gap) / columns) - gap;
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

/** Pages are higher than wide, all other images wider than high. */
const shapes = tasks.flatMap(({ images }) =>
  images.map(({ width, height }) => height / (width * images.length)),
);
const tall = Math.round(side * Math.max(...shapes));
const height = tall + 5 * size * 1.4 + gap;
const rows = Math.ceil(tasks.length / columns);
const sheet = new Drawing(columns * (side + gap) + gap, Math.ceil(rows * height + gap), '#dddddd');
const layers = [];
for (const [index, task] of tasks.entries()) {
  const left = gap + (index % columns) * (side + gap);
  const top = Math.round(gap + Math.floor(index / columns) * height);
  const wide = Math.floor(side / task.images.length);
  for (const [number, { png }] of task.images.entries()) {
    const input = await sharp(png)
      .resize(wide - 4, tall, { fit: 'inside' })
      .png()
      .toBuffer();
    layers.push({ input, left: left + number * wide, top });
  }
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
