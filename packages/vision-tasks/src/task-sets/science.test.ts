import { readFileSync } from 'node:fs';
import type { Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { habitatsOf } from '../science/food-web-facts.ts';
import { isInside, tasksOf } from './families.fixture.ts';
import { type ScienceFacts, science } from './science.ts';

const elements = JSON.parse(
  readFileSync(new URL('../../data/elements.json', import.meta.url), 'utf8'),
) as { number: number; symbol: string; mass: number; electronegativity: number }[];
const tasks = await tasksOf(science, 24);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = (task: Task) => task.metadata as unknown as ScienceFacts;
const ofKind = (kind: ScienceFacts['kind']) => all.filter((task) => factsOf(task).kind === kind);
const elementOf = (symbol: string) => {
  const found = elements.find((element) => element.symbol === symbol);
  if (found === undefined) throw new Error(`There is no element ${symbol}.`);
  return found;
};

describe('science', () => {
  for (const { name, check } of taskSetContract) it(name, () => check(science), 120_000);

  it('looks up, compares and adds as the stored elements say', () => {
    for (const task of ofKind('elements')) {
      const { operation, of, numbers } = factsOf(task).program;
      const some = of.map(elementOf);
      const [first] = some;
      const ranked = [...some].sort((a, b) => a.electronegativity - b.electronegativity);
      const sum = some.reduce((total, { mass }, index) => total + mass * (numbers[index] ?? 0), 0);
      const answers: Record<string, string | undefined> = {
        mass: first?.mass.toFixed(2),
        electronegativity: first?.electronegativity.toFixed(2),
        'count-above': String(
          some.filter(({ electronegativity }) => electronegativity > (numbers[0] ?? 0)).length,
        ),
        'most-electronegative': ranked.at(-1)?.symbol,
        'least-electronegative': ranked[0]?.symbol,
        'mass-sum': sum.toFixed(2),
      };
      expect(answers[operation], task.question).toBe(task.answer);
    }
  });

  it('gives every reading a tick of the scale, inside its ends', () => {
    for (const task of ofKind('instrument')) {
      const { operation, numbers } = factsOf(task).program;
      const [first = 0, last = 0, step = 1, ...ends] = numbers;
      for (const value of ends) {
        expect(value).toBeGreaterThanOrEqual(first);
        expect(value).toBeLessThanOrEqual(last);
        expect(Math.abs((value - first) / step - Math.round((value - first) / step))).toBeLessThan(
          1e-6,
        );
      }
      const [start = 0, end = 0] = operation === 'length' ? ends : [0, ends[0]];
      expect(Number(task.answer)).toBeCloseTo(end - start, 6);
    }
  });

  it('has the resistance of its stages, joined two at a time', () => {
    for (const task of ofKind('circuit')) {
      const { operation, of, numbers } = factsOf(task).program;
      const stages = new Map<string, number>();
      of.forEach((name, index) => {
        const stage = name.split('.')[1] ?? '';
        const [sofar, ohms = 0] = [stages.get(stage), numbers[index]];
        stages.set(stage, sofar === undefined ? ohms : (sofar * ohms) / (sofar + ohms));
      });
      const total = [...stages.values()].reduce((sum, ohms) => sum + ohms, 0);
      const expected = operation === 'current' ? (1000 * (numbers.at(-1) ?? 0)) / total : total;
      expect(Math.abs(Number(task.answer) - expected), task.question).toBeLessThanOrEqual(0.0501);
    }
  });

  it('names in a food web only what lives in one habitat of its split', () => {
    for (const [split, some] of Object.entries(tasks) as ['train' | 'heldOut', readonly Task[]][]) {
      for (const task of some.filter((each) => factsOf(each).kind === 'food-web')) {
        const { of, operation } = factsOf(task).program;
        const home = habitatsOf[split].find(({ levels }) =>
          of.every((name) => levels.flat().includes(name)),
        );
        expect(home, of.join()).toBeDefined();
        const [first = '', second = '', third = ''] = of;
        if (operation === 'common-eater') {
          expect(third).toBe(task.answer);
          expect(home?.eats[third]).toEqual(expect.arrayContaining([first, second]));
        }
        if (operation === 'eaters-count') {
          for (const eater of of.slice(1)) expect(home?.eats[eater]).toContain(first);
          expect(task.answer).toBe(String(of.length - 1));
        }
        if (operation === 'foods-count') {
          expect(home?.eats[first] ?? []).toEqual(expect.arrayContaining(of.slice(1)));
          expect(task.answer).toBe(String(of.length - 1));
        }
        if (operation === 'end-count') expect(task.answer).toBe(String(of.length));
        if (operation === 'chain') {
          const way = [first, ...of.slice(2), second];
          way.slice(1).forEach((eater, index) => {
            expect(home?.eats[eater]).toContain(way[index]);
          });
          expect(task.answer).toBe(String(way.length - 1));
        }
      }
    }
  });

  it('shows no element and no typeface of the held-out split in train', () => {
    const seen = (some: readonly Task[]) =>
      new Set(
        some
          .map(factsOf)
          .flatMap(({ kind, program, typeface }) => [
            typeface,
            ...(kind === 'elements' ? program.of : []),
          ]),
      );
    const held = seen(tasks.heldOut);
    expect([...seen(tasks.train)].filter((part) => held.has(part))).toEqual([]);
  });

  it('keeps every evidence box inside the image and the box around them', () => {
    for (const task of all) {
      const { box, evidence } = factsOf(task);
      expect(evidence.length).toBeGreaterThan(0);
      for (const each of evidence) expect(isInside(each.box, box, task.images[0])).toBe(true);
    }
  });

  it('draws the kinds that the settings allow', async () => {
    const task = await science.with({ kinds: ['circuit'] }).task('train', 0);
    expect(factsOf(task).kind).toBe('circuit');
    expect(() => science.with({ kinds: ['rocket'] })).toThrow(/rocket/);
  });
});
