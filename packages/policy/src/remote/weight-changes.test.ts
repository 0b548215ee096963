/** Changes of weights wait for each other, and a failed one leaves doubt. */
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { changeTogether, WeightChanges } from './weight-changes.ts';

const failing = async (): Promise<never> => {
  throw new Error('It broke.');
};

it('makes one change at a time, also after one that failed', async () => {
  const changes = new WeightChanges();
  const order: string[] = [];
  const change = (name: string) => async (): Promise<string> => {
    order.push(`${name} begins`);
    await setTimeout(1);
    order.push(`${name} ends`);
    return name;
  };
  const first = changes.run(change('a'));
  const broken = changes.run(failing);
  const last = changes.run(change('b'));
  await expect(broken).rejects.toThrow('It broke.');
  expect([await first, await last]).toEqual(['a', 'b']);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

it('is certain of answers before, during and after a change that succeeds', async () => {
  const changes = new WeightChanges();
  const before = changes.watch();
  const change = changes.run(async () => {
    await setTimeout(5);
  });
  await setTimeout(1);
  const during = changes.watch();
  let isEnded = false;
  void change.then(() => {
    isEnded = true;
  });
  expect(await before()).toBe(true);
  // It waited for the outcome.
  expect(isEnded).toBe(true);
  expect(await during()).toBe(true);
  expect(await changes.watch()()).toBe(true);
});

it('doubts what was asked before a change failed, and until another succeeds', async () => {
  const changes = new WeightChanges();
  const before = changes.watch();
  await expect(changes.run(failing)).rejects.toThrow();
  expect(changes.areUnknown).toBe(true);
  const between = changes.watch();
  await changes.run(async () => {});
  expect(changes.areUnknown).toBe(false);
  expect([await before(), await between(), await changes.watch()()]).toEqual([false, false, true]);
});

it('changes several engines as one, and doubts all of them if it fails', async () => {
  const engines = [new WeightChanges(), new WeightChanges()];
  const other = engines[1]?.run(() => setTimeout(2, 'other'));
  expect(await changeTogether(engines, () => Promise.race([other, 'together']))).toBe('other');
  await expect(changeTogether(engines, failing)).rejects.toThrow('It broke.');
  expect(engines.map(({ areUnknown }) => areUnknown)).toEqual([true, true]);
  expect(await changeTogether([], async () => 'none')).toBe('none');
  const others = [...engines].reverse();
  const both = [changeTogether(engines, async () => 1), changeTogether(others, async () => 2)];
  expect(await Promise.all(both)).toEqual([1, 2]);
});
