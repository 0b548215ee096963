import { describe, expect, it } from 'vitest';
import { Permits } from './permits.ts';

describe('permits', () => {
  it('are given in the order of asking, one for each given back', async () => {
    const permits = new Permits(1);
    const order: string[] = [];
    const release = await permits.acquire();
    const later = ['a', 'b'].map(async (name) => {
      const giveBack = await permits.acquire();
      order.push(name);
      giveBack();
    });
    expect(permits.waiting).toBe(2);
    release();
    release(); // a second time gives nothing
    await Promise.all(later);
    expect(order).toEqual(['a', 'b']);
    expect(permits.waiting).toBe(0);
  });

  it('are not lost when a waiting one gives up', async () => {
    const permits = new Permits(1);
    const release = await permits.acquire();
    const controller = new AbortController();
    const given = permits.acquire(controller.signal);
    const next = permits.acquire();
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    release();
    (await next)();
    expect(await permits.acquire()).toBeTypeOf('function');
  });
});
