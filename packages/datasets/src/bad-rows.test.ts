/** Rows that are not as their set has them: one clear error each, and never a task that is wrong. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileMapping, type MappedRow } from './mapping/compile-mapping.ts';
import { type MappingInput, mappingSchema } from './mapping/mapping-schema.ts';
import { benchmarks } from './published-benchmarks.fixture.ts';
import { BYTES, IMAGE, type Published, SHA256 } from './published-row.fixture.ts';
import { mappings } from './reader-registry.ts';
import { image, temporaryFolder } from './samples.fixture.ts';

let root: string;
let png: Uint8Array;
let hash: string;
beforeAll(async () => {
  root = await temporaryFolder();
  png = await image(1);
  hash = createHash('sha256').update(png).digest('hex');
  await mkdir(join(root, 'images'));
  await writeFile(join(root, 'images', hash), png);
});

/** A row of a set with its image, and with some columns changed; undefined leaves one out. */
function rowOf(name: string, changed: Readonly<Record<string, unknown>>) {
  const real = (value: unknown): unknown => {
    if (value === IMAGE) return { bytes: png, path: null };
    if (value === BYTES) return png;
    if (value === SHA256) return hash;
    return value === 'base64' ? Buffer.from(png).toString('base64') : value;
  };
  const { row } = benchmarks[name] as Published;
  const entries = Object.entries({ ...row, ...changed });
  return Object.fromEntries(entries.map(([column, value]) => [column, real(value)]));
}

const mapWith = (declaration: MappingInput, row: Readonly<Record<string, unknown>>) =>
  compileMapping('m', mappingSchema.parse(declaration)).map(row, {
    ...{ root, maxRowBytes: 2 ** 24, maxPixels: 1e6, draw: 0 },
  });

const mapped = (name: string, changed: Readonly<Record<string, unknown>> = {}) =>
  mapWith(mappings.get(name).declaration, rowOf(name, changed));

/** A change of a row, and what its error says. */
type Bad = readonly [
  name: string,
  about: string,
  changed: Readonly<Record<string, unknown>>,
  RegExp,
];

const other = 'f'.repeat(64);
const bad: readonly Bad[] = [
  ['chartqapro', 'no flags', { Year: [] }, /^Year: there are no flags; expected YES or NO/],
  ['chartqapro', 'no column of flags', { Year: null }, /^Year: there are no flags/],
  ['chartqapro', 'a flag that is none', { Year: ['NO', null] }, /^Year\[1\]: expected text/],
  [
    'chartqapro',
    'fewer answers than questions',
    { Answer: ['[2016, 2018]'] },
    /^Question has 2 questions and Answer 1 answers; expected one answer for each question/,
  ],
  ['chartqapro', 'no questions', { Question: [], Answer: [] }, /^Question: there is no question/],
  [
    'chartqapro',
    'an empty question',
    { Question: ['a?', ' '] },
    /^Question\[1\]: there is no quest/,
  ],
  ['chartqapro', 'an empty answer', { Answer: ['', 'x'] }, /^Answer\[0\]: there is no answer/],
  ['chartqapro', 'a struct as a question', { Question: [{}, 'b'] }, /^Question\[0\]: .*got struct/],
  ['chartqapro', 'no image', { image: null }, /^image: there is none/],
  ['chartqapro', 'bytes of no image', { image: Buffer.from('hi') }, /^image: .*of no known format/],
  ['pixmo-count', 'no hash', { image_sha256: null }, /^image_sha256: there is none/],
  [
    'pixmo-count',
    'a file that is missing',
    { image_sha256: other },
    /^there is no file "images\/f{64}", nor one with \.png, \.jpg, \.jpeg, \.webp, \.gif behind/,
  ],
  [
    'pixmo-count',
    'a hash that leaves',
    { image_sha256: '../../x' },
    /leaves the data set's folder/,
  ],
  ['pixmo-count', 'no label', { label: null }, /^label: there is no question/],
  ['pixmo-count', 'no count', { count: null }, /^count: there is no answer/],
  ['textvqa', 'no answers', { answers: [] }, /^answers: there is no answer/],
  ['mme-realworld', 'a letter of no choice', { answer: 'F' }, /"F" is the letter of none of its 5/],
  [
    'mme-realworld',
    'an answer that is no letter',
    { answer: 'red' },
    /"red" is the letter of none/,
  ],
  ['blink', 'an answer that is hidden', { answer: 'hidden' }, /"hidden" is the letter of none/],
  ['blink', 'no first image', { image_1: null }, /^image_1: there is none/],
  ['iam-line', 'no text', { text: '' }, /^text: there is no answer/],
];

describe('rows of benchmarks', () => {
  it.each(bad)('%s: %s is an error', async (name, _about, changed, message) => {
    const failed = mapped(name, changed);
    await expect(failed).rejects.toThrow(DataError);
    await expect(failed).rejects.toThrow(message);
  });

  it('are tasks or a DataError, whatever stands in one of their columns', async () => {
    const poisons = [
      undefined,
      null,
      '',
      ' ',
      [],
      [null],
      {},
      0,
      2 ** 53,
      'x',
      '["a"',
      Buffer.of(1),
    ];
    let refused = 0;
    for (const [name, { row }] of Object.entries(benchmarks)) {
      for (const column of Object.keys(row)) {
        for (const poison of poisons) {
          try {
            const { question, answer } = await mapped(name, { [column]: poison });
            expect(question.trim(), `${name}.${column}`).not.toBe('');
            expect(answer.trim(), `${name}.${column}`).not.toBe('');
          } catch (error) {
            expect(error, `${name}.${column}`).toBeInstanceOf(DataError);
            refused++;
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });
});

describe('hashes of images', () => {
  const declaration = {
    question: { text: 'What is it?' },
    images: { value: 'image', sha256: 'hash' },
    answer: 'a',
  };
  const row = (value: unknown) => ({ image: png, a: 'x', hash: value });

  it('are compared in either case of letters', async () => {
    expect((await mapWith(declaration, row(hash.toUpperCase()))).images.length).toBe(1);
  });

  it.each<readonly [unknown, RegExp]>([
    [other, /^image has the SHA-256 [0-9a-f]{64}, and hash of its row says f{64}: .*Download it/],
    ['abc', /^hash: expected a SHA-256 of 64 hexadecimal digits, got "abc"/],
    [null, /^hash: there are 0 hashes of 1 files/],
    [[other, other], /^hash: there are 2 hashes of 1 files/],
  ])('that are %j are one error', async (value, message) => {
    await expect(mapWith(declaration, row(value))).rejects.toThrow(message);
  });
});

describe('conversations', () => {
  const task = async (changed: Readonly<Record<string, unknown>>): Promise<MappedRow> =>
    await mapped('chartqapro', changed);
  const single = { Question: ['How many?'], Answer: ['7'], Year: ['NO'] };

  it('of one turn are their question, and without exact parts a plain answer', async () => {
    const { question, answer } = await task({ ...single, Paragraph: '' });
    expect(question).toMatch(/^How many\?\n\nAnswer with/);
    expect(answer).toBe('7');
  });

  it('end with their last flag; other rows have one for each element', async () => {
    expect((await task({ Year: ['YES', 'NO'] })).answer).toBe('[2016, 2018]');
    const lists = { Question: ['When?'], Answer: ['[2016, Ohio]'], Year: ['YES', 'NO'] };
    const { answer } = await task({ ...lists, 'Question Type': 'Factoid' });
    expect(JSON.parse(answer)).toEqual({ text: '[2016, Ohio]', exactElements: [true, false] });
  });

  it('are whole only where the kind of row says so', async () => {
    const { question, answer } = await task({ 'Question Type': 'Hypothetical', Paragraph: null });
    expect(question).toMatch(/^And since when\?\n\nAnswer with/);
    expect(JSON.parse(answer).exactElements).toEqual([false, true]);
  });

  it('of kinds that are exact say so, with their flags', async () => {
    const kinds = async (kind: string, Year: readonly string[]) =>
      JSON.parse((await task({ ...single, Year, 'Question Type': kind })).answer);
    expect(await kinds('Multi Choice', ['NO'])).toEqual({ text: '7', exact: true });
    expect(await kinds('Fact Checking', ['YES'])).toEqual({
      ...{ text: '7', exact: true, exactElements: [true] },
    });
  });

  it('are read from JSON in a cell, and from a text alone', async () => {
    const { question } = await task({ Question: '["a?","b?"]', Answer: '["x","y"]' });
    expect(question).toContain('Question: a?\nAnswer: x\nQuestion: b?\n');
    const alone = await task({ Question: 'a?', Answer: 'x', Year: 'NO' });
    expect([alone.question.slice(0, 20), alone.answer]).toEqual(['Two states lead.\n\na?', 'x']);
  });

  it('take a column of their name for one of the data where none are declared', async () => {
    const plain = { question: 'turns[from=human].value', answer: 'each' };
    const { question, answer } = await mapWith(plain, {
      turns: [{ from: 'human', value: 'Why?' }],
      each: 'x',
    });
    expect([question, answer]).toEqual(['Why?', 'x']);
  });

  it('refuse a declaration of exact parts of several answers', () => {
    const exact = { flags: 'f' };
    const declaration = { question: 'q', answer: { value: 'a', as: 'all' as const, exact } };
    expect(() => mapWith(declaration, {})).toThrow(/read as all is no single text/);
  });
});
