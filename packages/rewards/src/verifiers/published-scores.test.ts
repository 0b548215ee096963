/** `relaxed-lists` and `vqa-accuracy` beside the scores that published evaluators give. */
import { readFileSync } from 'node:fs';
import { randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { elementsOf } from './elements.ts';
import { relaxedLists } from './relaxed-lists.ts';
import { vqaAccuracy } from './vqa-accuracy.ts';

/** The cases of a file, behind a line that says where they are from. */
function casesOf<Case>(name: string): readonly Case[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Case);
}

type Chart = readonly [answer: string, expected: string, kind: string, year: readonly string[]];

/** What the mapping of ChartQAPro hands over; a test in `train` reads the same cases through it. */
function marked([, text, kind, year]: readonly [...Chart, ...unknown[]]): string {
  const flags = kind === 'Conversational' ? year.slice(-1) : year;
  const exactElements = flags.map((flag) => flag === 'YES');
  const exact = kind === 'Fact Checking' || kind === 'Multi Choice';
  if (!exact && !exactElements.includes(true)) return text;
  return JSON.stringify({ text, exact, exactElements });
}

type Difference = readonly [reason: string, ...Chart, script: number, ours: number];

/** Scores of the script, and ours, which differ on purpose. */
const differences: readonly Difference[] = [
  [
    'words of an element without quotes are not joined to UnitedStates',
    "['United States', 'x']",
    '[United States, x]',
    'Factoid',
    ['NO'],
    0.961538461538,
    1,
  ],
  [
    'a list without quotes is one where numbers with a point stand beside words',
    "['12', 'B', '0.5']",
    '[12, B, 0.5]',
    'Factoid',
    ['NO'],
    0,
    1,
  ],
  [
    'and where negative numbers or percentages do',
    "['Ohio', '-7', '3%']",
    '[Ohio, -7, 3%]',
    'Factoid',
    ['NO'],
    0,
    1,
  ],
  ['an answer is a list without quotes', '[Ohio, Iowa]', '[Ohio, Iowa]', 'Factoid', ['NO'], 0, 1],
  ['the point of .5 is not a full stop', '.5', '0.5', 'Factoid', ['NO'], 0, 1],
  ['a full stop before a new line is one', 'Ohio.\n', 'Ohio', 'Factoid', ['YES'], 0, 1],
  ['an answer may stand in a box', '\\boxed{Ohio}', 'Ohio', 'Factoid', ['NO'], 0, 1],
  ['nan is a word', 'nan', 'nan', 'Factoid', ['NO'], 0, 1],
  ['numbers have no underscores', '1_000', '1000', 'Factoid', ['NO'], 1, 0.8],
];

const withoutKinds = relaxedLists.with({ exactKinds: false });

describe('relaxed-lists', () => {
  type Case = readonly [...Chart, paper: number, script: number];
  const cases = casesOf<Case>('relaxed-lists.golden.jsonl');

  it('gives the scores of the script, with exact kinds and without', () => {
    expect(cases.length).toBeGreaterThanOrEqual(100);
    // Scores of every kind are among them.
    expect(cases.filter(([, , , , paper]) => paper > 0 && paper < 1).length).toBeGreaterThan(30);
    expect(cases.filter(([, , , , paper, script]) => paper !== script).length).toBeGreaterThan(3);
    for (const one of cases) {
      const [answer, , , , paper, script] = one;
      expect(relaxedLists.verify(answer, marked(one)), String(one)).toBeCloseTo(paper, 10);
      expect(withoutKinds.verify(answer, marked(one)), String(one)).toBeCloseTo(script, 10);
    }
  });

  it.each(differences)('%s', (_, answer, text, kind, year, script, ours) => {
    const score = relaxedLists.verify(answer, marked([answer, text, kind, year]));
    expect(score).toBeCloseTo(ours, 10);
    expect(Math.abs(score - script)).toBeGreaterThan(0.03);
  });

  it('finds what it expects right, however it is written', () => {
    const year = '{"text":"[2016, 2018]","exactElements":[true]}';
    for (const expected of ['[2016, Ohio]', year, '{"text":"True","exact":true}', '{"text":3}']) {
      expect(relaxedLists.verify(expected, expected), expected).toBe(1);
    }
    expect(relaxedLists.verify('[2016, 2019]', year)).toBe(0.5);
    expect(relaxedLists.verify('[2016, 2018, 2020]', year)).toBeCloseTo(2 / 3, 12);
    expect(relaxedLists.verify('true', '{"text":"True","exact":true}')).toBe(1);
    expect(relaxedLists.verify('Truer', '{"text":"True","exact":true}')).toBe(0);
    expect(relaxedLists.verify('104', '100')).toBe(1);
    expect(relaxedLists.with({ relativeTolerance: 0.01 }).verify('104', '100')).toBe(0);
  });

  it.each<readonly [string, readonly string[]]>([
    ['[a b, c]', ['a b', 'c']],
    [`['a, b', "c"]`, ['a, b', 'c']],
    [`["don't", 'it\\'s']`, ["don't", "it's"]],
    ["[don't know, 'tis]", ["don't know", "'tis"]],
    ['[Smith (2016, 2017), x]', ['Smith (2016, 2017)', 'x']],
    ['[a (b, c]', ['a (b', 'c']],
    ['[a,]', ['a']],
    ['[a,,b]', ['[a,,b]']],
    ['[]', ['[]']],
    ['a, b', ['a, b']],
    [' [7]\n', ['7']],
  ])('reads %s as a list', (text, elements) => {
    expect(elementsOf(text)).toEqual(elements);
  });

  it('reads back every list of elements in quotes, whatever is in them', () => {
    const atoms = ['a', 'B ', '2016', ',', ', ', "'", '"', '\\', '[', ')', '{', '%', '.5', 'é'];
    for (let number = 0; number < 500; number++) {
      const random = randomAt(3, 'list', number);
      const elements = Array.from({ length: 1 + random.integer(4) }, () => {
        return `x${Array.from({ length: random.integer(6) }, () => random.pick(atoms)).join('')}x`;
      });
      const quote = random.pick(["'", '"']);
      const written = elements.map((one) => `${quote}${one.replace(/["'\\]/g, '\\$&')}${quote}`);
      expect(elementsOf(`[${written.join(random.pick([',', ', ', ' ,  ']))}]`)).toEqual(elements);
    }
  });
});

describe('vqa-accuracy', () => {
  type Case = readonly [answer: string, people: readonly string[], vqa: number, textvqa: number];
  const cases = casesOf<Case>('vqa-accuracy.golden.jsonl');
  const textvqa = vqaAccuracy.with({ normalization: 'textvqa' });

  it('gives the scores of the evaluations of VQA and of TextVQA', () => {
    expect(cases.length).toBeGreaterThanOrEqual(100);
    expect(cases.filter(([, , vqa, text]) => vqa !== text).length).toBeGreaterThan(3);
    for (const [answer, people, vqa, text] of cases) {
      const expected = JSON.stringify(people);
      expect(vqaAccuracy.verify(answer, expected), expected).toBeCloseTo(vqa, 10);
      expect(textvqa.verify(answer, expected), expected).toBeCloseTo(text, 10);
    }
  });

  it('is that of one person where there is one', () => {
    expect(vqaAccuracy.verify('a', '["a"]')).toBe(1);
    expect(vqaAccuracy.verify('b', 'a')).toBe(0);
    expect(textvqa.verify('The Nokia.', 'nokia')).toBe(1);
  });
});
