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
    expect(permits.held).toBe(0);
  });

  it('are not lost when a waiting one gives up', async () => {
    const permits = new Permits(1);
    const release = await permits.acquire();
    const controller = new AbortController();
    const given = permits.acquire({ signal: controller.signal });
    const next = permits.acquire();
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    release();
    (await next)();
    expect(await permits.acquire()).toBeTypeOf('function');
  });

  it('go to the callers in turns, however many each has asked for', async () => {
    const permits = new Permits(1);
    const release = await permits.acquire();
    const order: string[] = [];
    const ask = async (caller: string): Promise<void> => {
      const giveBack = await permits.acquire({ caller });
      order.push(caller);
      giveBack();
    };
    const asked = ['greedy', 'greedy', 'greedy', 'greedy', 'late', 'late', 'last'].map(ask);
    release();
    await Promise.all(asked);
    expect(order).toEqual(['greedy', 'late', 'last', 'greedy', 'late', 'greedy', 'greedy']);
  });

  it('refuse who would wait behind too many, and take the next when there is room', async () => {
    const permits = new Permits(1, 2);
    const release = await permits.acquire();
    const controller = new AbortController();
    const first = permits.acquire({ signal: controller.signal });
    const second = permits.acquire();
    await expect(permits.acquire()).rejects.toMatchObject({ code: 'queue-full', waiting: 2 });
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    const third = permits.acquire();
    release();
    (await second)();
    (await third)();
    expect([permits.waiting, permits.held]).toEqual([0, 0]);
  });

  it('are counted right when half of ten thousand that wait give up', async () => {
    const permits = new Permits(1);
    const release = await permits.acquire();
    const controllers = Array.from({ length: 10_000 }, () => new AbortController());
    const waits = controllers.map(({ signal }, index) =>
      permits.acquire({ signal, caller: `c${index % 7}` }),
    );
    for (const [index, controller] of controllers.entries()) {
      if (index % 2 === 1) controller.abort(new Error('enough'));
    }
    expect(permits.waiting).toBe(5_000);
    release();
    const ends = await Promise.allSettled(waits.map(async (wait) => (await wait)()));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(5_000);
    expect([permits.waiting, permits.held]).toEqual([0, 0]);
  });
});
