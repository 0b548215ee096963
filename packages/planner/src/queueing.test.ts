/** Queues against closed forms of queueing theory (Kleinrock 1975, volume 1, chapters 3 and 4). */
import { type Random, randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { Agenda } from './agenda.ts';
import { decodeSpeed } from './decode-table.ts';
import { Engine } from './engine.ts';
import { Pool } from './pool.ts';

const exponential = (random: Random, mean: number): number => -mean * Math.log(random.uniform());

/** Calls `arrive` at the times of a Poisson process. */
function arrivals(agenda: Agenda, rate: number, count: number, arrive: (random: Random) => void) {
  const random = randomAt(7, 'arrivals', count);
  const next = (left: number): void => {
    if (left === 0) return;
    agenda.after(exponential(random, 1 / rate), () => {
      arrive(random);
      next(left - 1);
    });
  };
  next(count);
}

/** Erlang's C formula: the probability to wait in M/M/c with load a = λ/μ. */
function erlangC(c: number, a: number): number {
  let term = 1;
  let sum = 0;
  for (let k = 0; k < c; k++) {
    sum += term;
    term *= a / (k + 1);
  }
  const last = (term * c) / (c - a);
  return last / (sum + last);
}

describe('a pool', () => {
  it.each([
    [1, 0.5],
    [1, 0.8],
    [3, 2.4],
    [16, 12],
  ])('of %i servers under load %d waits as M/M/c does', (c, a) => {
    const agenda = new Agenda();
    const pool = new Pool(agenda, c);
    arrivals(agenda, a, 100_000, (random) => pool.serve(exponential(random, 1), () => {}));
    while (agenda.step());
    const wait = erlangC(c, a) / (c - a);
    expect(pool.report.meanWaitSeconds / wait).toBeGreaterThan(0.9);
    expect(pool.report.meanWaitSeconds / wait).toBeLessThan(1.1);
    expect(pool.report.utilization).toBeCloseTo(a / c, 1);
    // Little's law: L_q = λ·W_q.
    const { meanQueue, meanWaitSeconds } = pool.report;
    expect(meanQueue / (a * meanWaitSeconds)).toBeCloseTo(1, 1);
    expect(pool.report.served).toBe(100_000);
  });
});

describe('an engine', () => {
  const idle = { onBegin: () => {}, onEnd: () => {} };
  const flat = { prefillTokensPerSecond: 1e12, maxSequences: 1e6, heldPasses: 0 };

  it.each([
    ['exponential', (random: Random) => exponential(random, 1)],
    ['constant', () => 1],
    ['two-valued', (random: Random) => (random.uniform() < 0.9 ? 0.5 : 5.5)],
  ])('whose speed is shared holds ρ/(1−ρ) sequences of %s lengths', (_, length) => {
    // M/G/1 with processor sharing depends on the mean length alone.
    const agenda = new Agenda();
    const engine = new Engine(agenda, { ...flat, decodeSpeed: () => 1 });
    const rho = 0.7;
    arrivals(agenda, rho, 40_000, (random) => {
      engine.request({ prefillTokens: 0, decodeTokens: length(random), ...idle });
    });
    while (agenda.step());
    const { meanSequences, busy } = engine.report(agenda.seconds);
    expect(meanSequences / (rho / (1 - rho))).toBeGreaterThan(0.92);
    expect(meanSequences / (rho / (1 - rho))).toBeLessThan(1.08);
    expect(busy).toBeCloseTo(rho, 1);
  });

  it('that takes one sequence at a time waits as M/M/1 does', () => {
    const agenda = new Agenda();
    const costs = { ...flat, maxSequences: 1, decodeSpeed: () => 1 };
    const engine = new Engine(agenda, costs);
    arrivals(agenda, 0.6, 40_000, (random) => {
      engine.request({ prefillTokens: 0, decodeTokens: exponential(random, 1), ...idle });
    });
    while (agenda.step());
    const { meanWaiting } = engine.report(agenda.seconds);
    expect(meanWaiting / (0.6 ** 2 / 0.4)).toBeGreaterThan(0.9);
    expect(meanWaiting / (0.6 ** 2 / 0.4)).toBeLessThan(1.1);
  });

  it('samples exactly the tokens it was asked for, at whatever speeds, with a pause', () => {
    const agenda = new Agenda();
    const decode = decodeSpeed([
      [1, 10],
      [8, 40],
      [64, 100],
    ]);
    const parts = { maxSequences: 20, heldPasses: 5, prefillTokensPerSecond: 500 };
    const engine = new Engine(agenda, { ...parts, decodeSpeed: decode });
    const random = randomAt(3);
    let [asked, prefill, ended] = [0, 0, 0];
    arrivals(agenda, 2, 500, () => {
      const decodeTokens = 1 + random.integer(60);
      const prefillTokens = random.integer(40);
      asked += decodeTokens;
      prefill += prefillTokens;
      engine.request({ prefillTokens, decodeTokens, onBegin() {}, onEnd: () => ended++ });
    });
    agenda.after(20, () => engine.setSpeed(0));
    agenda.after(35, () => engine.setSpeed(1));
    while (agenda.step());
    const { decodedTokens, prefilledTokens } = engine.report(agenda.seconds);
    expect(ended).toBe(500);
    expect(decodedTokens).toBeCloseTo(asked, 3);
    expect(prefilledTokens).toBeCloseTo(prefill, 3);
  });

  it('takes the seconds of its table for sequences that begin together', () => {
    const agenda = new Agenda();
    const table = decodeSpeed([[4, 40]]);
    const engine = new Engine(agenda, { ...flat, decodeSpeed: table });
    const ends: number[] = [];
    for (const decodeTokens of [10, 10, 20, 20]) {
      const onEnd = (): void => void ends.push(agenda.seconds);
      engine.request({ prefillTokens: 0, decodeTokens, onBegin() {}, onEnd });
    }
    while (agenda.step());
    // A pass of up to 4 rows takes 0.1 s, however few they are.
    for (const [at, end] of [1, 1, 2, 2].entries()) expect(ends[at]).toBeCloseTo(end, 6);
  });

  it('holds new requests back until they are as many as run, or long enough', () => {
    const agenda = new Agenda();
    const costs = { ...flat, heldPasses: 8, decodeSpeed: (n: number) => n };
    const engine = new Engine(agenda, costs);
    const begins: number[] = [];
    const add = (decodeTokens: number): void => {
      const onBegin = (): void => void begins.push(agenda.seconds);
      engine.request({ prefillTokens: 0, decodeTokens, onBegin, onEnd() {} });
    };
    for (let i = 0; i < 3; i++) add(100);
    agenda.after(10, () => add(1));
    agenda.after(30, () => add(1));
    agenda.after(31, () => add(1));
    agenda.after(32, () => add(1));
    while (agenda.step());
    // A second passes per pass here: the first waits 8 of them, the three others for each other.
    expect(begins.map((seconds) => Math.round(seconds))).toEqual([0, 0, 0, 18, 32, 32, 32]);
  });

  it('ends what runs before it is drained, and admits nothing until it resumes', () => {
    const agenda = new Agenda();
    const engine = new Engine(agenda, { ...flat, decodeSpeed: (n: number) => n });
    const ends: number[] = [];
    const add = (decodeTokens: number): void => {
      const onEnd = (): void => void ends.push(Math.round(agenda.seconds));
      engine.request({ prefillTokens: 0, decodeTokens, onBegin() {}, onEnd });
    };
    let drainedAt = 0;
    add(10);
    agenda.after(4, () =>
      engine.drain(() => {
        drainedAt = agenda.seconds;
        agenda.after(5, () => engine.resume());
      }),
    );
    agenda.after(5, () => add(3));
    while (agenda.step());
    // A token a second: 10 s, 5 s of standing still, 3 s.
    expect(drainedAt).toBeCloseTo(10, 9);
    expect(ends).toEqual([10, 18]);
    // One that is idle is drained at once.
    let isDrained = false;
    engine.drain(() => {
      isDrained = true;
    });
    while (agenda.step());
    expect(isDrained).toBe(true);
  });
});
