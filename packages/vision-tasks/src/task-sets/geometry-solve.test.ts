import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { type GeometryFacts, geometrySolve } from './geometry-solve.ts';

const factsOf = async (split: 'train' | 'heldOut', index: number) => {
  const task = await geometrySolve.task(split, index);
  return { task, facts: task.metadata as unknown as GeometryFacts };
};

/** A measure of the image by the law of cosines: an angle in degrees, or a length in pixels. */
function measured({ points }: GeometryFacts, quantity: string): number {
  const [a, b, c] = [...quantity.replace('∠', '')].map((name) => points[name] ?? [0, 0]);
  const apart = (p: readonly number[] = [], q: readonly number[] = []) =>
    Math.hypot((p[0] ?? 0) - (q[0] ?? 0), (p[1] ?? 0) - (q[1] ?? 0));
  if (c === undefined) return apart(a, b);
  const [u, v, w] = [apart(a, b), apart(b, c), apart(a, c)];
  return (Math.acos((u * u + v * v - w * w) / (2 * u * v)) * 180) / Math.PI;
}

describe('geometry-solve', () => {
  for (const { name, check } of taskSetContract) it(name, async () => await check(geometrySolve));

  it('asks for what the drawn points measure', async () => {
    for (const split of ['train', 'heldOut'] as const) {
      for (let index = 0; index < 30; index++) {
        const { task, facts } = await factsOf(split, index);
        const [known] = Object.entries(facts.given).filter(([name]) => !name.startsWith('∠'));
        const scale = facts.goal.startsWith('∠')
          ? 1
          : (known?.[1] ?? 1) / measured(facts, known?.[0] ?? '');
        expect(measured(facts, facts.goal) * scale, task.id).toBeCloseTo(facts.value, 6);
        expect(facts.program).toHaveLength(facts.difficulty);
        const text = facts.choices?.['ABCD'.indexOf(task.answer)] ?? task.answer;
        expect(Number.parseInt(text, 10)).toBe(facts.value);
        expect(new Set(facts.choices).size).toBe(facts.choices?.length ?? 0);
      }
    }
  });

  it('refuses a range of theorems that is empty', () => {
    expect(() => geometrySolve.with({ fewestTheorems: 3, mostTheorems: 2 })).toThrow(
      /mostTheorems: expected at least taskSet.fewestTheorems \(3\), got 2/,
    );
  });

  it('shares no figure, letter, style or typeface between the splits', async () => {
    const seen = { train: new Set<string>(), heldOut: new Set<string>() };
    for (const split of ['train', 'heldOut'] as const) {
      for (let index = 0; index < 30; index++) {
        const { facts } = await factsOf(split, index);
        const letters = Object.keys(facts.points).filter((letter) => letter !== 'O');
        const { figure, style, typeface } = facts;
        for (const trait of [figure, style, typeface, ...letters]) seen[split].add(trait);
      }
    }
    expect([...seen.train].filter((trait) => seen.heldOut.has(trait))).toEqual([]);
  });
});
