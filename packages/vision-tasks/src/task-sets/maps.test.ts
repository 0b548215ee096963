import { readFileSync } from 'node:fs';
import { randomAt } from '@saccade/core';
import type { Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { askMap } from '../maps/ask-map.ts';
import { planMap } from '../maps/plan-map.ts';
import { isInside, pixelsOf, tasksOf } from './families.fixture.ts';
import { type MapFacts, maps } from './maps.ts';

interface StoredMap {
  id: string;
  split: string;
  regions: { name: string; spot: [number, number]; neighbors: string[] }[];
  tables: { measure: string; when: string; values: Record<string, number> }[];
}
const file = JSON.parse(
  readFileSync(new URL('../../data/maps.json', import.meta.url), 'utf8'),
) as StoredMap[];
const tasks = await tasksOf(maps, 12);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = (task: Task) => task.metadata as unknown as MapFacts;

function storedOf({ table }: MapFacts) {
  const map = file.find(({ id }) => table.startsWith(`${id} `));
  const values = map?.tables.find(({ measure, when }) =>
    table.endsWith(` ${`${measure} ${when}`.trim()}`),
  )?.values;
  if (map === undefined || values === undefined) throw new Error(`There is no table ${table}.`);
  return { map, values };
}

/** The answer from the stored values, by the text of the classes, apart from the code that asks. */
function recompute(facts: MapFacts): string {
  const { program, classes } = facts;
  const { map, values } = storedOf(facts);
  const classOf = (name: string): number =>
    classes.findIndex((text) => {
      const [first = 0, second = 0] = (text.match(/[\d.]+/g) ?? []).map(Number);
      const value = values[name] ?? Number.NaN;
      if (text.startsWith('under')) return value < first;
      return value >= first && (text.endsWith('or more') || value < second);
    });
  const valued = map.regions.map(({ name }) => name).filter((name) => name in values);
  const around = map.regions.find(({ name }) => name === program.of)?.neighbors ?? [];
  const best = (names: readonly string[]) => {
    const top = Math.max(...names.map(classOf));
    return names.filter((name) => classOf(name) === top).join(' and ');
  };
  const bound = classes.indexOf(program.bound ?? '');
  const answers = {
    class: () => classes[classOf(program.regions[0] ?? '')] ?? '',
    highest: () => best(program.regions),
    count: () => String(valued.filter((name) => classOf(name) === bound).length),
    'count-above': () => String(valued.filter((name) => classOf(name) >= bound).length),
    'neighbors-higher': () =>
      String(around.filter((name) => classOf(name) > classOf(program.of ?? '')).length),
    'neighbor-highest': () => best(around),
  };
  return answers[program.operation]();
}

describe('maps', () => {
  for (const { name, check } of taskSetContract) it(name, () => check(maps), 120_000);

  it('answers as its program says, from the stored values', () => {
    for (const task of all) expect(recompute(factsOf(task)), task.question).toBe(task.answer);
  });

  it('shows no place of the held-out split in train, nor in its typefaces', () => {
    const seen = (some: readonly Task[]) =>
      new Set(some.flatMap((task) => [factsOf(task).typeface, storedOf(factsOf(task)).map.id]));
    const held = seen(tasks.heldOut);
    expect([...seen(tasks.train)].filter((part) => held.has(part))).toEqual([]);
    for (const task of tasks.heldOut) expect(storedOf(factsOf(task)).map.split).toBe('heldOut');
  });

  it('asks about no region that is called like the place, as a county of Utah is', () => {
    let asked = 0;
    for (let seed = 0; seed < 400; seed++) {
      const random = randomAt(seed, 'maps-test');
      const plan = planMap(random.pick(['train', 'heldOut'] as const), 2, random);
      const names = plan?.map.regions.map(({ name }) => name) ?? [];
      if (plan === undefined || !names.includes(plan.map.place)) continue;
      const labels = new Map(names.map((name) => [name, name]));
      const question = askMap(plan, 2, labels, random)?.question ?? '';
      expect(question).not.toMatch(new RegExp(`\\b${plan.map.place}\\b`));
      if (question !== '') asked++;
    }
    expect(asked).toBeGreaterThan(20);
  });

  it('keeps every evidence box inside the image and the box around them', () => {
    for (const task of all) {
      const { box, evidence } = factsOf(task);
      expect(evidence.length).toBeGreaterThan(0);
      for (const each of evidence) expect(isInside(each.box, box, task.images[0])).toBe(true);
    }
  });

  it('paints regions of a class in one color, and of two classes in two', async () => {
    const [task] = tasks.train;
    if (task?.images[0] === undefined) throw new Error('There is no task.');
    const [image] = task.images;
    const pixels = await pixelsOf(image);
    const facts = factsOf(task);
    const { values } = storedOf(facts);
    const colorsOf = new Map<number, string[]>();
    for (const [name, [left, top, right, bottom]] of Object.entries(facts.labels)) {
      const value = values[name];
      if (value === undefined) continue;
      const counts = new Map<string, number>();
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x++) {
          const at = 3 * (y * image.width + x);
          const color = pixels.subarray(at, at + 3).join();
          const isText = [0, 1, 2].every((each) => (pixels[at + each] ?? 0) < 60);
          if (color === '255,255,255' || isText) continue;
          counts.set(color, (counts.get(color) ?? 0) + 1);
        }
      }
      const most = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
      const index = facts.breaks.filter((each) => value >= each).length;
      colorsOf.set(index, [...(colorsOf.get(index) ?? []), most]);
    }
    const common = [...colorsOf.values()].map((colors) => {
      const [first = ''] = colors;
      const share = colors.filter((color) => color === first).length / colors.length;
      return { first, share };
    });
    for (const { share } of common) expect(share).toBeGreaterThan(0.5);
    expect(new Set(common.map(({ first }) => first)).size).toBe(common.length);
  });

  it('asks for the difficulties that the settings allow', async () => {
    const task = await maps.with({ easiest: 2, hardest: 2 }).task('train', 0);
    expect(factsOf(task).difficulty).toBe(2);
    expect(() => maps.with({ easiest: 3, hardest: 2 })).toThrow(/easiest/);
  });
});
