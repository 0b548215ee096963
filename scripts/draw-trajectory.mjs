/**
 * Draws a kept trajectory of a run as the SVG of the README: the question and the image as the model
 * sees it, then for every turn the code that the model wrote and the image that came back.
 *
 *     node scripts/draw-trajectory.mjs RUN [FILE] [INDEX] > docs/trajectory.svg
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// sharp is a dependency of the report, not of the repository.
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const load = createRequire(pathToFileURL(join(root, 'packages/report/package.json')));
const sharp = load('sharp');

const [run, file = 'evaluation-final', index = '0'] = process.argv.slice(2);
if (run === undefined) throw new Error('Name a run: node scripts/draw-trajectory.mjs runs/mine');
const folder = join(run, 'trajectories');
const lines = readFileSync(join(folder, `${file}.jsonl`), 'utf8')
  .trim()
  .split('\n');
const trajectory = JSON.parse(lines[Number(index)]);
const { segments, turns, tags, answer, isCorrect } = trajectory;

const SIDE = 224;
const WIDTH = 236;
const GAP = 20;
const FONT = 'font-family="ui-sans-serif, system-ui, Helvetica, Arial, sans-serif"';
const MONO = 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"';
const COLORS = ['#d97706', '#2563eb', '#7c3aed', '#0891b2'];

const escapeXml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A PNG as a data URI at the resolution of the model, so that no detail is added. */
async function pixels({ file: path, modelWidth, modelHeight }) {
  const png = await sharp(join(folder, path)).resize(modelWidth, modelHeight).png().toBuffer();
  return `data:image/png;base64,${png.toString('base64')}`;
}

function text(x, y, content, { size = 13, weight = 400, fill = '#1f2937', font = FONT } = {}) {
  return `<text x="${x}" y="${y}" ${font} font-size="${size}" font-weight="${weight}" fill="${fill}">${escapeXml(content)}</text>`;
}

/** The lines of a turn's code, cut so that they fit a panel. */
function codeLines(code) {
  const most = 29; // characters
  return code
    .trim()
    .split('\n')
    .flatMap((line) => {
      const parts = [];
      for (let rest = line; rest.length > 0; ) {
        const dot = rest.length <= most ? rest.length : Math.max(rest.lastIndexOf('.', most), 8);
        parts.push(rest.slice(0, dot));
        rest = rest.slice(dot);
        if (rest.length > 0) rest = `  ${rest}`;
      }
      return parts;
    });
}

async function panels() {
  const [prompt] = segments;
  const [first] = prompt.images;
  const drawn = [];
  const looks = segments
    .filter(({ kind }) => kind === 'observation')
    .flatMap(({ images }) => images);
  const scale = SIDE / first.width;
  const boxes = looks
    .filter(({ origin }) => origin?.image === first.name)
    .map(({ width, height, origin: { map } }, look) => {
      const [sx, dx, sy, dy] = map;
      const [w, h] = [width * sx * scale, height * sy * scale];
      return `<rect x="${dx * scale}" y="${110 + dy * scale}" width="${w}" height="${h}" fill="none" stroke="${COLORS[look % 4]}" stroke-width="2.5"/>`;
    });
  drawn.push(
    text(0, 30, 'Question', { weight: 600, size: 15 }) +
      text(0, 58, tags.question, { size: 12.5 }) +
      text(0, 98, `The model sees ${first.modelWidth}×${first.modelHeight} pixels:`, {
        fill: '#6b7280',
        size: 12,
      }) +
      `<image x="0" y="110" width="${SIDE}" height="${SIDE}" href="${await pixels(first)}" style="image-rendering:pixelated"/>` +
      boxes.join('') +
      text(0, 354, `The original is ${first.width}×${first.height}.`, {
        fill: '#6b7280',
        size: 12,
      }),
  );
  let look = 0;
  for (const [k, turn] of turns.entries()) {
    if (turn.action.kind !== 'code') continue;
    const color = COLORS[look % COLORS.length];
    const image = looks[look++];
    const code = codeLines(turn.action.code);
    drawn.push(
      text(0, 30, `Turn ${k + 1}: the model writes code`, { weight: 600, size: 15, fill: color }) +
        `<rect x="0" y="40" width="${SIDE}" height="62" rx="4" fill="#f3f4f6"/>` +
        code.map((line, n) => text(6, 58 + n * 17, line, { size: 12, font: MONO })).join('') +
        (image === undefined
          ? ''
          : `<image x="0" y="110" width="${SIDE}" height="${SIDE}" href="${await pixels(image)}" style="image-rendering:pixelated"/>` +
            `<rect x="0" y="110" width="${SIDE}" height="${SIDE}" fill="none" stroke="${color}" stroke-width="2.5"/>` +
            text(0, 354, `The sandbox returns ${image.width}×${image.height} pixels.`, {
              fill: '#6b7280',
              size: 12,
            })),
    );
  }
  const digit = answer.replace(/\\boxed\{(.*)\}/, '$1');
  drawn.push(
    text(0, 30, `Turn ${turns.length}: it answers`, { weight: 600, size: 15 }) +
      `<rect x="0" y="40" width="${SIDE}" height="62" rx="4" fill="#f3f4f6"/>` +
      text(6, 75, `<answer>${answer}</answer>`, { size: 12, font: MONO }) +
      text(78, 264, digit, { size: 120, weight: 600, fill: isCorrect ? '#15803d' : '#b91c1c' }) +
      text(0, 354, `${isCorrect ? 'Right' : 'Wrong'}. The answer is ${tags.answer}.`, {
        fill: '#6b7280',
        size: 12,
      }),
  );
  return drawn;
}

const drawn = await panels();
const width = drawn.length * WIDTH + (drawn.length - 1) * GAP - (WIDTH - SIDE) + 40;
const body = drawn
  .map((panel, n) => `<g transform="translate(${20 + n * (WIDTH + GAP)} 10)">${panel}</g>`)
  .join('\n');
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="384" viewBox="0 0 ${width} 384" role="img">
<title>A trajectory: question, code, crops, answer</title>
<rect width="${width}" height="384" rx="8" fill="#ffffff"/>
${body}
</svg>
`);
