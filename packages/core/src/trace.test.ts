import { afterEach, describe, expect, it } from 'vitest';
import { groupsOf, type Profile, type ProfiledSpan, secondsOf, stageOf } from './profile.ts';
import { isTracing, span, spanElsewhere, stage, startTrace, type Trace } from './trace.ts';

/** A clock that only tests move, in milliseconds, and the part of it in which JavaScript was busy. */
class Clock {
  at = 0;
  active = 0;

  work(milliseconds: number): void {
    this.at += milliseconds;
    this.active += milliseconds;
  }

  idle(milliseconds: number): void {
    this.at += milliseconds;
  }
}

let trace: Trace | undefined;
let clock = new Clock();

function start({ knowsActive = true } = {}): void {
  clock = new Clock();
  const active = (): number => clock.active;
  trace = startTrace({ now: () => clock.at, ...(knowsActive && { active }) });
}

function finish(): Profile {
  const profile = (trace as Trace).finish();
  trace = undefined;
  return profile;
}

afterEach(() => trace?.finish());

function find({ root }: Profile, ...path: string[]): ProfiledSpan {
  let found: ProfiledSpan | undefined = root;
  for (const name of path) found = found?.spans.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no ${path.join(' > ')}.`);
  return found;
}

/** A promise that tests settle. */
function settled(): { readonly promise: Promise<void>; readonly settle: () => void } {
  let settle = (): void => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

describe('a span', () => {
  it('counts its own time without that of the spans inside it', () => {
    start();
    span('tape', () => {
      clock.work(2);
      span('kernels/gemm', () => clock.work(5));
      span('kernels/gemm', () => clock.work(6));
      clock.work(1);
    });
    const profile = finish();
    expect(find(profile, 'tape')).toMatchObject({ kind: 'work', seconds: 0.003, count: 1 });
    const inner = find(profile, 'tape', 'kernels/gemm');
    expect(inner).toMatchObject({ seconds: 0.011, count: 2 });
    expect(profile.seconds).toBe(0.014);
  });

  it('ends where its work throws, and passes on what it throws', () => {
    start();
    const failing = () =>
      span('outer', () =>
        span('inner', () => {
          clock.work(3);
          throw new Error('no');
        }),
      );
    expect(failing).toThrow('no');
    span('next', () => clock.work(4));
    const profile = finish();
    expect(find(profile, 'outer', 'inner').seconds).toBe(0.003);
    expect(find(profile, 'next').seconds).toBe(0.004);
  });

  it('is nothing but its work while no trace is on', async () => {
    expect(isTracing()).toBe(false);
    expect(span('a', () => 7)).toBe(7);
    const promise = Promise.resolve(8);
    // The very promise: no turn of the loop more than without.
    expect(spanElsewhere('b', () => promise)).toBe(promise);
    expect(stage('c', () => promise)).toBe(promise);
  });

  it('of one trace is not counted by another', () => {
    start();
    expect(() => startTrace()).toThrow(/A trace is on already/);
    span('first', () => clock.work(1));
    finish();
    start();
    expect(finish().root.spans).toEqual([]);
  });
});

describe('work elsewhere', () => {
  it('counts only while JavaScript has nothing to do, in equal parts for all that goes on', async () => {
    start();
    const [one, two, other] = [settled(), settled(), settled()];
    const all = [
      spanElsewhere('sandbox/execute', () => one.promise),
      spanElsewhere('sandbox/execute', () => two.promise),
      spanElsewhere('images/decode', () => other.promise),
    ];
    clock.idle(9);
    span('kernels/gemm', () => clock.work(4));
    one.settle();
    await all[0];
    clock.idle(2);
    two.settle();
    other.settle();
    await Promise.all(all);
    const profile = finish();
    const execute = find(profile, 'sandbox/execute');
    expect(execute.seconds).toBeCloseTo(0.007, 9);
    // 13 and 15 ms: they overlap, and this number says so.
    expect(execute.inFlightSeconds).toBeCloseTo(0.028, 9);
    expect(execute.count).toBe(2);
    expect(find(profile, 'images/decode').seconds).toBeCloseTo(0.004, 9);
    expect(find(profile, 'kernels/gemm').seconds).toBeCloseTo(0.004, 9);
    expect(secondsOf(profile.root)).toBeCloseTo(profile.seconds, 9);
  });

  it('gives way to JavaScript outside of all spans, as far as the event loop was busy', async () => {
    start();
    const { promise, settle } = settled();
    const running = stage('rollout', () => spanElsewhere('sandbox/execute', () => promise));
    clock.idle(6);
    clock.work(3);
    settle();
    await running;
    clock.idle(1);
    const profile = finish();
    expect(find(profile, 'rollout', 'sandbox/execute').seconds).toBeCloseTo(0.006, 9);
    expect(find(profile, 'rollout', 'other JavaScript/rollout').seconds).toBeCloseTo(0.003, 9);
    expect(find(profile, 'waiting/run')).toMatchObject({ kind: 'wait' });
    expect(find(profile, 'waiting/run').seconds).toBeCloseTo(0.001, 9);
  });
});

describe('a stage', () => {
  it('has what happens in it, also what others began, and names JavaScript without a span', async () => {
    start();
    await stage('step', async () => {
      await stage('packing', async () => clock.work(2), { rest: 'packing' });
      await stage('gradient', async () => {
        span('tape', () => clock.work(8));
      });
    });
    const profile = finish();
    expect(find(profile, 'step', 'packing', 'packing').seconds).toBeCloseTo(0.002, 9);
    expect(find(profile, 'step', 'gradient', 'tape').seconds).toBeCloseTo(0.008, 9);
  });

  it('is found wherever it was, all of one name together', async () => {
    start();
    for (const outer of ['first', 'second']) {
      await stage(outer, () =>
        stage('update', async () => {
          span('tape', () => clock.work(2));
          if (outer === 'second') span('loss', () => clock.work(3));
        }),
      );
    }
    const profile = finish();
    const update = stageOf(profile, 'update');
    expect(update?.seconds).toBeCloseTo(0.007, 9);
    expect(update?.root).toMatchObject({ name: 'update', count: 2 });
    expect(update?.root.spans).toMatchObject([
      { name: 'tape', count: 2, seconds: 0.004 },
      { name: 'loss', count: 1, seconds: 0.003 },
    ]);
    expect(stageOf(profile, 'rollout')).toBeUndefined();
  });

  it('with parts at the same time does not pretend to tell them apart', async () => {
    start();
    const { promise, settle } = settled();
    const learning = async (): Promise<void> => {
      await promise;
      span('tape', () => clock.work(1));
    };
    const both = stage(
      'streaming',
      () => Promise.all([stage('learning', learning), stage('rollout', () => promise)]),
      { isConcurrent: true },
    );
    span('sampling', () => clock.work(2));
    settle();
    await both;
    const profile = finish();
    expect(find(profile, 'streaming').spans.map(({ name }) => name)).toEqual(['sampling', 'tape']);
  });

  it('that ends after one that began later leaves the later one open', async () => {
    start();
    const [first, second] = [settled(), settled()];
    const outer = stage('first', () => first.promise);
    const inner = stage('second', () => second.promise);
    first.settle();
    await outer;
    span('late', () => clock.work(5));
    second.settle();
    await inner;
    expect(find(finish(), 'first', 'second', 'late').seconds).toBe(0.005);
  });
});

describe('the seconds of all spans', () => {
  it('add up to those of the clock, whatever overlaps', async () => {
    // Random programs of spans, stages and work elsewhere; mulberry32 draws them.
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed;
      const draw = (count: number): number => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) % count;
      };
      start({ knowsActive: seed % 2 === 0 });
      const nested = (depth: number): void => {
        clock.work(draw(5));
        if (depth < 3 && draw(2) === 0) span(`work/${draw(3)}`, () => nested(depth + 1));
      };
      const program = async (depth: number): Promise<void> => {
        for (let i = 0; i < 4; i++) {
          const what = draw(4);
          if (what === 0) nested(0);
          if (what === 1) {
            await spanElsewhere(`elsewhere/${draw(2)}`, async () => {
              await Promise.resolve();
              clock.idle(draw(9));
            });
          }
          if (what === 2 && depth < 2) await stage(`stage ${draw(3)}`, () => program(depth + 1));
          if (what === 3) clock.idle(draw(4));
          await Promise.resolve();
        }
      };
      await Promise.all([program(0), program(0), program(0)]);
      const profile = finish();
      expect(secondsOf(profile.root)).toBeCloseTo(profile.seconds, 9);
      const shares = groupsOf(profile).map(({ share }) => share);
      const sum = shares.reduce((total, share) => total + share, 0);
      if (profile.seconds > 0) expect(sum).toBeCloseTo(1, 9);
      for (const share of shares) expect(share).toBeGreaterThanOrEqual(0);
    }
  });
});
