import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { watchTurns } from './longest-turn.fixture.ts';

/** Computes for so long, as the processor counts. */
function compute(seconds: number): void {
  const start = process.cpuUsage();
  for (let used = 0; used < seconds * 1e6; ) {
    const { user, system } = process.cpuUsage(start);
    used = user + system;
  }
}

it('finds the turn that computes longest, not what all of them compute', async () => {
  const longestTurn = watchTurns();
  for (const seconds of [0.05, 0.3, 0.05]) {
    compute(seconds);
    await setTimeout(30);
  }
  const longest = longestTurn();
  expect(longest).toBeGreaterThanOrEqual(0.3);
  const rest = watchTurns();
  await setTimeout(30);
  expect(rest()).toBeLessThan(longest);
});
