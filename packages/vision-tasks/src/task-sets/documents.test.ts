import { readFileSync } from 'node:fs';
import { randomAt } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { tablesOf } from '../charts/tables.ts';
import type { AskedDocument } from '../documents/document.ts';
import { documentStyle } from '../documents/document-style.ts';
import type { DocumentFacts } from '../documents/document-task.ts';
import { formPage } from '../documents/form-page.ts';
import { speechPage } from '../documents/speech-page.ts';
import { speechesOf } from '../documents/speeches.ts';
import { tablePage } from '../documents/table-page.ts';
import { documents } from './documents.ts';

const splits: readonly Split[] = ['train', 'heldOut'];
const levels = [1, 2, 3, 4];

/** A page of each kind, level and split. */
const pages = (
  await Promise.all(
    splits.flatMap((split) =>
      levels.map(async (level) => {
        const random = randomAt(7, 'documents-test', split, level);
        const style = await documentStyle(split, level, random);
        const made = (draw: () => AskedDocument | undefined) => {
          for (;;) {
            const page = draw();
            if (page !== undefined) return { split, level, ...page };
          }
        };
        return [
          made(() => speechPage(speechesOf(split), style, level, random)),
          made(() => tablePage(tablesOf(split), style, level, random)),
          made(() => formPage(tablesOf(split), style, level, random)),
        ];
      }),
    ),
  )
).flat();

const plain = (text: string) => text.replaceAll(/[^A-Za-z0-9. ]/g, '').toLowerCase();
const quotedIn = (question: string) => /“(.+?)”/.exec(question)?.[1] ?? '';

/** The answer from the printed words and their boxes alone. */
function readPage({ operation, question, words }: AskedDocument): string | undefined {
  const rows = new Map<string, AskedDocument['words'][number][]>();
  for (const word of words) {
    // Words of a line have one baseline; columns of a page are told apart by large gaps.
    const key = word.box[3].toFixed(1);
    rows.set(key, [...(rows.get(key) ?? []), word]);
  }
  const printed = words.map(({ text }) => text);
  const quoted = quotedIn(question);
  const bare = (text: string | undefined) => text?.replaceAll(/[^A-Za-z]/g, '');
  const places = printed.flatMap((_, i) =>
    printed.slice(i, i + 3).join(' ') === quoted ? [i] : [],
  );
  const [numbers, year] = [/ of ([\d.]+) /.exec(question)?.[1], / in (\d{4})/.exec(question)?.[1]];
  const under = (head: AskedDocument['words'][number], cell: AskedDocument['words'][number]) =>
    head.text === year && Math.abs(head.box[2] - cell.box[2]) < 3 && head.box[3] < cell.box[1];
  switch (operation) {
    case 'count':
      return String(printed.filter((text) => bare(text)?.toLowerCase() === quoted).length);
    case 'next-word':
      return bare(printed[(places[0] ?? 0) + 3]);
    case 'line-end': {
      const start = words[places[0] ?? 0];
      const after = words.slice(places[0] ?? 0);
      const last = after.findIndex(({ box }) => box[3] !== start?.box[3]);
      return bare(after[(last < 0 ? after.length : last) - 1]?.text);
    }
    case 'cell':
    case 'row': {
      const found = [...rows.values()].flatMap(([name, ...cells]) =>
        cells
          .filter((cell) => words.some((head) => under(head, cell)))
          .filter((cell) =>
            operation === 'cell'
              ? plain(question).includes(plain(name?.text ?? ''))
              : cell.text === numbers,
          )
          .map((cell) => (operation === 'cell' ? cell.text : (name?.text ?? ''))),
      );
      return found.join('|');
    }
    case 'field': {
      const country = /form for (?:the )?(.+)\?/.exec(question)?.[1] ?? '';
      const own = printed.indexOf(country) - 3;
      return printed[printed.indexOf(quoted, own) + 1];
    }
    case 'owner':
      return printed[printed.indexOf(/number (\d+)/.exec(question)?.[1] ?? '') + 2];
  }
}

describe('documents', () => {
  for (const { name, check } of taskSetContract)
    it(name, async () => await check(documents), 60_000);

  it('answers what is printed on the page', () => {
    for (const page of pages) {
      const answer = readPage(page) ?? '';
      // Two tables of a page may share rows and years; the answer is one of both.
      expect(answer.split('|'), page.question).toContain(page.answer);
    }
  });

  it('keeps every text inside the page and off the others', () => {
    for (const { page, words, question } of pages) {
      for (const [index, { text, box }] of words.entries()) {
        expect(Math.min(...box), text).toBeGreaterThan(0);
        expect(box[2], text).toBeLessThan(page.width);
        expect(box[3], text).toBeLessThan(page.height);
        const touched = words.slice(index + 1).filter(({ box: other }) => {
          const isApart =
            box[2] <= other[0] || other[2] <= box[0] || box[3] <= other[1] || other[3] <= box[1];
          return !isApart;
        });
        expect(touched, `${text}: ${question}`).toEqual([]);
      }
    }
  });

  it('has ink in every box of the evidence', async () => {
    for (const split of splits) {
      for (let index = 0; index < 6; index++) {
        const task = await documents.task(split, index);
        const { evidence, box } = task.metadata as unknown as DocumentFacts;
        const [image] = task.images;
        for (const [left, top, right, bottom] of evidence) {
          const region = { left, top, width: right - left, height: bottom - top };
          const { channels } = await sharp(image?.png).extract(region).stats();
          expect(channels[0]?.stdev, task.id).toBeGreaterThan(20);
          expect(left).toBeGreaterThanOrEqual(box[0]);
          expect(bottom).toBeLessThanOrEqual(box[3]);
        }
      }
    }
  });

  it('takes speeches, rows and typefaces of a split alone', () => {
    const words = (split: Split) =>
      new Set(speechesOf(split).map(({ president, year }) => `${president} ${year}`));
    expect([...words('train')].filter((speech) => words('heldOut').has(speech))).toEqual([]);
    const file = JSON.parse(
      readFileSync(new URL('../../data/speeches.json', import.meta.url), 'utf8'),
    ) as { heldOut: string[]; speeches: { president: string }[] };
    const train = speechesOf('train').map(({ president }) => president);
    expect(train.filter((president) => file.heldOut.includes(president))).toEqual([]);
    expect(speechesOf('train').length + speechesOf('heldOut').length).toBe(file.speeches.length);
    const rowsIn = (split: Split) =>
      new Set(tablesOf(split).flatMap(({ rows }) => rows.map(({ name }) => name)));
    expect([...rowsIn('train')].filter((row) => rowsIn('heldOut').has(row))).toEqual([]);
  });

  it('asks for the difficulties and kinds that the settings allow', async () => {
    const some = documents.with({ easiest: 2, hardest: 2, kinds: ['form'] });
    for (let index = 0; index < 4; index++) {
      expect((await some.task('train', index)).metadata).toMatchObject({
        difficulty: 2,
        kind: 'form',
      });
    }
    expect(() => documents.with({ easiest: 3, hardest: 2 })).toThrow(/easiest/);
    expect(() => documents.with({ kinds: ['letter'] })).toThrow(/letter/);
  });
});
