import { expect, it, vi } from 'vitest';
import { ServerLink } from './server-link.ts';
import { SpareServers } from './spare-servers.ts';

/** A server that ends when the test, or whoever retires it, says so. */
class FakeLink {
  isAlive = true;
  isRetired = false;
  #end: () => void = () => {};
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  retire(): void {
    this.isRetired = true;
  }

  async stop(): Promise<void> {
    this.isAlive = false;
    this.#end();
    await this.ended;
  }
}

function makePool(sessionsPerServer: number, spares: number) {
  const made: FakeLink[] = [];
  const start = vi.spyOn(ServerLink, 'start').mockImplementation(async () => {
    const link = new FakeLink();
    made.push(link);
    return link as unknown as ServerLink;
  });
  const first = new FakeLink();
  const removeSnapshot = vi.fn(async () => {});
  const pool = new SpareServers({
    link: {} as never,
    first: first as unknown as ServerLink,
    ...{ spares, sessionsPerServer, removeSnapshot },
  });
  return { pool, made, first, start, removeSnapshot };
}

it('gives no two sessions the same server, and retires each after its session opened', async () => {
  const { pool, first } = makePool(1, 2);
  const taken = await Promise.all([pool.take(), pool.take(), pool.take(), pool.take()]);
  expect(new Set(taken).size).toBe(4);
  expect(taken).toContain(first);
  expect(first.isRetired).toBe(false);
  for (const link of taken) pool.onOpened(link);
  expect(taken.map((link) => (link as unknown as FakeLink).isRetired)).toEqual(Array(4).fill(true));
  await pool.dispose();
});

it('keeps as many servers ready as it is told', async () => {
  const { pool, made } = makePool(1, 3);
  await pool.take();
  await vi.waitFor(() => expect(made.length).toBe(3));
  await pool.take();
  await vi.waitFor(() => expect(made.length).toBe(4));
  await pool.dispose();
});

it('does not retire a server while another session is about to open on it', async () => {
  const { pool, first } = makePool(2, 1);
  const [one, two] = [await pool.take(), await pool.take()];
  expect([one, two]).toEqual([first, first]);
  pool.onOpened(one);
  expect(first.isRetired).toBe(false);
  pool.onOpened(two);
  expect(first.isRetired).toBe(true);
  await pool.dispose();
});

it('replaces a spare that died, tells the next caller why none starts, and recovers', async () => {
  const { pool, first, start } = makePool(1, 1);
  await first.stop();
  await vi.waitFor(() => expect(pool.restarts).toBe(1));
  start.mockRejectedValueOnce(new Error('no memory'));
  await expect(pool.take()).rejects.toThrow('no memory');
  await expect(pool.take()).resolves.toBeDefined();
  await pool.dispose();
});

it('ends every server and removes the snapshot when it is disposed', async () => {
  const { pool, made, removeSnapshot } = makePool(1, 2);
  await pool.take();
  await pool.dispose();
  expect(made.every(({ isAlive }) => !isAlive)).toBe(true);
  expect(pool.links).toEqual([]);
  expect(removeSnapshot).toHaveBeenCalledOnce();
  await expect(pool.take()).rejects.toThrow('disposed');
});
