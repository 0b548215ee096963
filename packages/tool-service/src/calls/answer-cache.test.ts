import type { Outcome } from '@saccade/sandbox';
import { refused } from '@saccade/tools';
import { describe, expect, it } from 'vitest';
import { image } from '../service.fixture.ts';
import { AnswerCache, keyOf } from './answer-cache.ts';

const never = new AbortController().signal;
const outcome = (stdout: string): Outcome => ({
  ...refused('BadArgument', ''),
  ...{ kind: 'ok', stdout },
});

describe('the identity of a call', () => {
  const call = { tool: 'look', version: '1', given: { a: 1, b: [2, { c: 3 }] }, images: [image] };

  it('does not depend on the order of keys', () => {
    const turned = { b: [2, { c: 3 }], a: 1 };
    expect(keyOf({ ...call, given: turned })).toBe(keyOf(call));
  });

  it.each([
    ['tool', { tool: 'see' }],
    ['version', { version: '2' }],
    ['argument', { given: { a: 1, b: [2, { c: 4 }] } }],
    ['type of an argument', { given: { a: '1', b: [2, { c: 3 }] } }],
    ['number of images', { images: [image, image] }],
    ['name of an image', { images: [{ ...image, name: 'image_1' }] }],
    ['byte of an image', { images: [{ ...image, png: image.png.with(90, 1) }] }],
    [
      'origin of an image',
      { images: [{ ...image, origin: { image: 'image_0', map: [1, 0, 3, 0, 1, 4] as const } }] },
    ],
  ])('depends on every %s', (_, other) => {
    expect(keyOf({ ...call, ...other })).not.toBe(keyOf(call));
  });
});

describe('the cache', () => {
  it('makes equal calls that come together once, and remembers the answer', async () => {
    const cache = new AnswerCache(10_000);
    let runs = 0;
    let finish: (outcome: Outcome) => void = () => {};
    const run = (): Promise<Outcome> => {
      runs++;
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const asked = [1, 2, 3].map(() => cache.answer('a', never, run));
    finish(outcome('x'));
    const answers = await Promise.all(asked);
    expect(answers.map(({ isCached }) => isCached)).toEqual([false, true, true]);
    expect(await cache.answer('a', never, run)).toEqual({ outcome: outcome('x'), isCached: true });
    expect(runs).toBe(1);
  });

  it('keeps to its bytes, the oldest answers go first', async () => {
    const cache = new AnswerCache(10_000);
    for (let i = 0; i < 50; i++) {
      await cache.answer(`${i}`, never, async () => outcome('x'.repeat(1000)));
      expect(cache.bytes).toBeLessThanOrEqual(10_000);
    }
    const run = async (): Promise<Outcome> => outcome('new');
    expect((await cache.answer('49', never, run)).isCached).toBe(true);
    expect((await cache.answer('0', never, run)).isCached).toBe(false);
    // An answer larger than the whole cache is returned but not kept.
    await cache.answer('big', never, async () => outcome('x'.repeat(20_000)));
    expect((await cache.answer('big', never, run)).isCached).toBe(false);
  });

  it('forgets failures, and outcomes that another try may not have', async () => {
    const cache = new AnswerCache(10_000);
    const broken = cache.answer('a', never, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    const slow: Outcome = { ...outcome(''), kind: 'timeout' };
    await cache.answer('a', never, async () => slow);
    expect((await cache.answer('a', never, async () => outcome('y'))).isCached).toBe(false);
    expect((await cache.answer('a', never, async () => outcome('z'))).isCached).toBe(true);
  });

  it('lets one that waits leave without the others, and stops the call when all have left', async () => {
    const cache = new AnswerCache(0);
    const controllers = [new AbortController(), new AbortController()];
    let given: AbortSignal | undefined;
    const run = (signal: AbortSignal): Promise<Outcome> => {
      given = signal;
      return new Promise(() => {});
    };
    const asked = controllers.map(({ signal }) => cache.answer('a', signal, run));
    controllers[0]?.abort(new Error('first'));
    await expect(asked[0]).rejects.toThrow('first');
    expect(given?.aborted).toBe(false);
    controllers[1]?.abort(new Error('second'));
    await expect(asked[1]).rejects.toThrow('second');
    expect(given?.aborted).toBe(true);
    // Whoever comes now does not wait for a call that was given up.
    const late = cache.answer('a', never, async () => outcome('late'));
    expect(await late).toEqual({ outcome: outcome('late'), isCached: false });
  });
});
