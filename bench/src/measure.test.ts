import { expect, it, vi } from 'vitest';
import { measure } from './measure.ts';

it('gives the seconds of one launch, and says nothing on the console', async () => {
  const log = vi.spyOn(console, 'log');
  let [launched, waited] = [0, 0];
  const times = await measure(
    () => {
      launched++;
    },
    async () => {
      waited++;
      await new Promise((wake) => setTimeout(wake, 30));
    },
    { rounds: 6, seconds: 10 },
  );
  expect(times.length).toBe(6);
  // A launch that takes longer than a sample must is launched once for each: one to see how long.
  expect([launched, waited]).toEqual([7, 7]);
  for (const time of times) expect(time).toBeGreaterThan(0);
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
});

it('fails with what a launch fails with', async () => {
  let launches = 0;
  const failing = measure(
    () => {
      if (++launches > 3) throw new Error('index out of range');
    },
    async () => {},
    { rounds: 5, seconds: 0.01 },
  );
  await expect(failing).rejects.toThrow('index out of range');
});
