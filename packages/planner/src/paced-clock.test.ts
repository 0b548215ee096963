/** Work on shared processors against closed forms. */
import { type Random, randomAt } from '@saccade/core';
import { expect, it } from 'vitest';
import { Agenda } from './agenda.ts';
import { PacedClock } from './paced-clock.ts';
import { Pool } from './pool.ts';

const exponential = (random: Random, mean: number): number => -mean * Math.log(random.uniform());

it('ends work by its speed, those of one moment in their order', () => {
  const agenda = new Agenda();
  const clock = new PacedClock(agenda);
  const ends: [string, number][] = [];
  const plan = (name: string, seconds: number) =>
    clock.after(seconds, () => ends.push([name, agenda.seconds]));
  plan('b', 4);
  plan('a', 1.5);
  plan('c', 4);
  // 1 s at full speed, 2 s at half, 3 s standing still, then at full speed again.
  agenda.after(1, () => clock.setSpeed(0.5));
  agenda.after(3, () => clock.setSpeed(0));
  agenda.after(6, () => clock.setSpeed(1));
  while (agenda.step());
  expect(ends).toEqual([
    ['a', 2],
    ['b', 8],
    ['c', 8],
  ]);
});

it('on processors that all share holds the sequences of M/G/1 with processor sharing', () => {
  // Infinitely many servers, each with 1/n of one processor: ρ/(1−ρ) of them work in the mean.
  const agenda = new Agenda();
  const clock = new PacedClock(agenda);
  const pool = new Pool(agenda, Number.POSITIVE_INFINITY, clock);
  let area = 0;
  let since = 0;
  let before = 0;
  pool.onBusy = () => {
    area += before * (agenda.seconds - since);
    since = agenda.seconds;
    before = pool.busy;
    clock.setSpeed(pool.busy > 0 ? 1 / pool.busy : 1);
  };
  const rho = 0.6;
  const random = randomAt(11);
  const arrive = (left: number): void => {
    if (left === 0) return;
    agenda.after(exponential(random, 1 / rho), () => {
      pool.serve(random.uniform() < 0.9 ? 0.5 : 5.5, () => {});
      arrive(left - 1);
    });
  };
  arrive(40_000);
  while (agenda.step());
  expect(area / agenda.seconds / (rho / (1 - rho))).toBeGreaterThan(0.92);
  expect(area / agenda.seconds / (rho / (1 - rho))).toBeLessThan(1.08);
});
