/** Conversations through every format and back; rows that cannot be expressed are refused by name. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeImage, protocols } from '@saccade/gym';
import type { Message } from '@saccade/trajectory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dialogFormats, type FormatChoice, readDialogs, writeDialogs } from '../dialog-formats.ts';
import { inWordsOf } from '../words.ts';
import type { DialogRow, DialogSample } from './format.ts';

const pngs = await Promise.all(
  [3, 5, 9].map((side) => {
    const pixels = Uint8Array.from({ length: side * side * 3 }, (_, i) => (i * 37) % 256);
    return encodeImage({ pixels, width: side, height: side });
  }),
);
const image = (index: number, name?: string) => ({
  ...{ type: 'image' as const, image: pngs[index % 3] as Uint8Array },
  ...(name !== undefined && { name }),
});
const folder = (): string => mkdtempSync(join(tmpdir(), 'formats-'));

async function rowsOf(path: string, format: FormatChoice): Promise<readonly DialogRow[]> {
  const rows: DialogRow[] = [];
  for await (const row of readDialogs(path, format)) rows.push(row);
  return rows;
}

/** Messages as formats keep them: text alone as text, names of images and results left out. */
function plain(messages: readonly Message[]): unknown {
  return messages.map(({ role, content, tool_calls: calls }) => {
    const parts =
      typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? []);
    const merged: { type: string; text?: string; image?: string }[] = [];
    for (const part of parts) {
      const last = merged.at(-1);
      if (part.type === 'image') {
        merged.push({ type: 'image', image: Buffer.from(part.image).toString('base64') });
      } else if (part.type === 'text' && last?.text !== undefined) last.text += part.text;
      else if (part.type === 'text' && part.text !== '') merged.push({ ...part });
    }
    const made = (calls ?? []).map(({ function: { name, arguments: given } }) => ({
      name,
      arguments: typeof given === 'string' ? JSON.parse(given) : given,
    }));
    return { role, parts: merged, calls: made };
  });
}

/** A conversation with a call as a field, an image in a prompt, and one in what a tool gave. */
const called: DialogSample = {
  id: 'called',
  messages: [
    { role: 'system', content: 'Look closely.' },
    { role: 'user', content: [image(0), { type: 'text', text: 'Which digit?\nLook: ünï☃' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ function: { name: 'crop', arguments: { box: [1, 2, 3, 4] } } }],
    },
    { role: 'tool', content: [{ type: 'text', text: 'Cropped.' }, image(1)] },
    { role: 'assistant', content: 'It is 7.' },
  ],
  tools: [{ type: 'function', function: { name: 'crop', parameters: { type: 'object' } } }],
  tags: { question: 'Which digit?', answer: '7' },
};

const files: readonly (readonly [FormatChoice, string])[] = [
  ['saccade', 'a.jsonl'],
  ['openai', 'a.jsonl'],
  [{ name: 'openai', images: 'inline' }, 'a.json'],
  ['llama-factory', 'a.json'],
  ['llama-factory', 'a.jsonl'],
  ['ms-swift', 'a.jsonl'],
  ['verl', 'a.parquet'],
];
const nameOf = (format: FormatChoice): string =>
  typeof format === 'string' ? format : format.name;

for (const [format, file] of files) {
  describe(`${JSON.stringify(format)} in ${file}`, () => {
    it('gives a conversation with tools and images back, with its facts', async () => {
      const path = join(folder(), file);
      expect(await writeDialogs(path, format, [called])).toEqual({ written: 1, refused: [] });
      const [row] = await rowsOf(path, format);
      if (row?.kind !== 'sample') throw new Error(JSON.stringify(row));
      expect(plain(row.sample.messages)).toEqual(plain(called.messages));
      expect(row.sample.tools).toEqual(called.tools);
      expect(row.sample.tags).toMatchObject(called.tags ?? {});
      expect(row.sample.id).toBe('called');
    });

    it('gives any conversation back or refuses it by name', async () => {
      const part = fc.oneof(
        fc
          .string({ unit: 'grapheme' })
          .map((text) => ({ type: 'text' as const, text: `.${text}` })),
        fc
          .constantFrom('<image>', '</code>', '{"a":1}', ' \n', '<|im_start|>user\n')
          .map((text) => ({
            ...{ type: 'text' as const, text },
          })),
        fc.integer({ min: 0, max: 2 }).map((index) => image(index)),
      );
      const parts = fc.array(part, { minLength: 1, maxLength: 4 });
      const sample = fc.record({
        system: fc.option(fc.constantFrom('Be brief.', 'Look.')),
        pairs: fc.array(
          fc.tuple(
            parts,
            fc.string().map((text) => `a${text}`),
          ),
          { minLength: 1, maxLength: 4 },
        ),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(sample, { minLength: 1, maxLength: 4 }), async (given) => {
          const samples = given.map(
            ({ system, pairs }, index): DialogSample => ({
              id: `s${index}`,
              messages: [
                ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
                ...pairs.flatMap(([content, reply]): Message[] => [
                  { role: 'user', content },
                  { role: 'assistant', content: reply },
                ]),
              ],
            }),
          );
          const path = join(folder(), file);
          const { written, refused } = await writeDialogs(path, format, samples);
          expect(written + refused.length).toBe(samples.length);
          const lost = refused.map(({ row }) => row.split(': ').at(-1));
          const rows = await rowsOf(path, format);
          const kept = samples.filter(({ id }) => !lost.includes(id));
          expect(rows.map((row) => row.kind === 'sample' && row.sample.id)).toEqual(
            kept.map(({ id }) => id),
          );
          rows.forEach((row, index) => {
            if (row.kind !== 'sample') throw new Error(JSON.stringify(row));
            expect(plain(row.sample.messages)).toEqual(plain(kept[index]?.messages ?? []));
          });
          const marks = samples.filter(({ messages }) =>
            JSON.stringify(messages).includes('<image>'),
          );
          const isMarked = ['llama-factory', 'ms-swift', 'verl'].includes(nameOf(format));
          expect(lost).toEqual(isMarked ? marks.map(({ id }) => id) : []);
        }),
        { numRuns: 25 },
      );
    });
  });
}

describe('rows of other programs', () => {
  it('of LLaMA-Factory are read: alpaca with history, sharegpt with OpenAI’s tags', async () => {
    const path = join(folder(), 'data.json');
    const rows = [
      { instruction: 'Add.', input: '1+1', output: '2', history: [['Hi', 'Hello']], system: 'S' },
      {
        messages: [
          { role: 'user', content: 'Q' },
          { role: 'assistant', content: 'A' },
        ],
      },
      {
        conversations: [
          { from: 'human', value: 'See <image>' },
          { from: 'gpt', value: 'A' },
        ],
        images: ['../x.png'],
      },
      {
        conversations: [
          { from: 'human', value: 'See <image><image>' },
          { from: 'gpt', value: 'A' },
        ],
        images: [],
      },
      { conversations: [{ from: 'narrator', value: 'Once' }] },
      7,
    ];
    writeFileSync(path, JSON.stringify(rows));
    const read = await rowsOf(path, 'llama-factory');
    const texts = read.map((row) =>
      row.kind === 'sample' ? row.sample.messages.map(({ content }) => content) : row.reason,
    );
    expect(texts).toEqual([
      ['S', 'Hi', 'Hello', 'Add.\n1+1', '2'],
      ['Q', 'A'],
      expect.stringMatching(/lies outside/),
      expect.stringMatching(/more <image> marks than its 0 images/),
      expect.stringMatching(/role narrator is not known/),
      expect.stringMatching(/no JSON object/),
    ]);
    expect(read[3]).toMatchObject({ row: `${path}:4` });
  });

  it('are refused one by one, whatever is wrong with them, and the others are read', async () => {
    const path = join(folder(), 'data.jsonl');
    await writeDialogs(path, 'openai', [called, { ...called, id: 'second' }]);
    const [first = '', second = ''] = readFileSync(path, 'utf8').trim().split('\n');
    const broken = [
      first.slice(0, -20),
      first.replace('"assistant"', '"narrator"'),
      first.replace(/images\/\w+\.png/, 'images/none.png'),
      first.replace('"image_url"', '"audio"'),
      '{"messages":[]}',
      'null',
    ];
    writeFileSync(path, [...broken, second, ''].join('\n'));
    const rows = await rowsOf(path, 'openai');
    expect(rows.map(({ kind }) => kind)).toEqual([...broken.map(() => 'refused'), 'sample']);
    for (const row of rows.slice(0, -1))
      expect(row).toMatchObject({ reason: expect.stringMatching(/.{8}/) });
  });

  it('are told as a whole where the file is of another format', async () => {
    const path = join(folder(), 'data.parquet');
    writeFileSync(path, 'not parquet at all');
    await expect(rowsOf(path, 'verl')).rejects.toThrow(/is no Parquet file/);
    await expect(rowsOf(join(folder(), 'none.jsonl'), 'openai')).rejects.toThrow(/cannot be read/);
    expect(() => readDialogs(path, 'sharegpt')).toThrow(/There is no format "sharegpt"/);
    expect(() => writeDialogs('x.txt', 'openai', [])).toThrow(/ends with .jsonl or .json/);
  });
});

describe('words of a protocol', () => {
  const vista = protocols.get('vista');
  const asked: DialogSample = { ...called, messages: called.messages.slice(1) };

  it('are written for calls and answers that are fields or plain text', () => {
    const call = {
      name: 'image_zoom_in_tool',
      arguments: { bbox_2d: [1, 2, 3, 4], image_index: 0 },
    };
    const sample: DialogSample = {
      ...asked,
      messages: [
        asked.messages[0] as Message,
        { role: 'assistant', content: 'I look.', tool_calls: [{ function: call }] },
        { role: 'tool', content: [{ type: 'text', text: 'Done.' }, image(1)] },
        { role: 'assistant', content: vista.write({ kind: 'answer', answer: '7' }, 'Seen.') },
      ],
    };
    const { turns } = inWordsOf(sample, { protocol: vista });
    expect(turns.map(({ action }) => action)).toEqual([
      { kind: 'toolCall', ...call },
      { kind: 'answer', answer: '7' },
    ]);
    expect(turns[0]?.text).toMatch(/^<think>I look\.<\/think>\n<tool_call>/);
    expect(turns[0]?.observation?.map(({ kind }) => kind)).toEqual(['text', 'image']);
  });

  it('are changed from one protocol to another where both can say it, else the row is refused', () => {
    const source = protocols.get('pyvision-image');
    const target = protocols.get('codedance');
    const result = { kind: 'ok' as const, stdout: '3', imageCount: 1 };
    const messages: Message[] = [
      { role: 'user', content: [image(0), { type: 'text', text: 'Which digit?' }] },
      { role: 'assistant', content: source.write({ kind: 'code', code: 'print(3)' }, 'Hm.') },
      { role: 'user', content: [{ type: 'text', text: '<interpreter>3' }, image(1)], result },
      { role: 'assistant', content: source.write({ kind: 'answer', answer: '7' }) },
    ];
    const sample = { id: 'x', messages, tags: { question: 'Which digit?' } };
    const { turns, prompt } = inWordsOf(sample, { protocol: target, from: source });
    expect(turns.map(({ action }) => action.kind)).toEqual(['code', 'answer']);
    expect(turns[0]?.text).toContain('print(3)');
    expect(JSON.stringify(turns[0]?.observation)).not.toContain('interpreter');
    expect(prompt.some(({ kind }) => kind === 'image')).toBe(true);
    const noQuestion = { id: 'x', messages };
    expect(() => inWordsOf(noQuestion, { protocol: target, from: source })).toThrow(
      /question is not known/,
    );
    expect(() => inWordsOf(sample, { protocol: vista, from: source })).toThrow(/no words for code/);
  });

  it('stay as they are, character by character, where they are the protocol’s already', () => {
    const protocol = protocols.get('pyvision-image-short');
    const texts = ['Odd  spacing<code>\n```python\nx\n```\n</code>', '<answer>7</answer>!'];
    const messages: Message[] = [
      { role: 'user', content: 'Q' },
      { role: 'assistant', content: texts[0] as string },
      { role: 'user', content: 'seen' },
      { role: 'assistant', content: texts[1] as string },
    ];
    expect(inWordsOf({ id: 'x', messages }, { protocol }).turns.map(({ text }) => text)).toEqual(
      texts,
    );
    const odd: Message[] = [
      { role: 'user', content: 'Q' },
      { role: 'assistant', content: 'Well.' },
    ];
    expect(() => inWordsOf({ id: 'x', messages: odd }, { protocol })).toThrow(/noCodeNorAnswer/);
  });

  it('are known for every format of the catalog', () => {
    expect(dialogFormats.names).toEqual(['llama-factory', 'ms-swift', 'openai', 'saccade', 'verl']);
  });
});
