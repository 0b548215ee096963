import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { beside } from './beside.ts';
import { inChunks } from './in-chunks.ts';

describe('examples made beside one another', () => {
  it('come in order, whichever is done first, and let one another go on', async () => {
    const log: string[] = [];
    const slow = async (): Promise<string> => {
      for (let turn = 0; turn < 3; turn++) {
        log.push('slow');
        await nextTurn();
      }
      return 'a';
    };
    const drawn = () =>
      inChunks('drawn', { count: 40 }, async (index) => {
        if (index % 16 === 0) log.push('drawn');
        return index;
      });
    const [first, second] = await beside([slow, drawn]);
    expect(first).toBe('a');
    expect(second).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(log).toEqual(['slow', 'drawn', 'slow', 'drawn', 'slow', 'drawn']);
  });

  it('end when one fails: its error is thrown once the others have stopped', async () => {
    const broken = new Error('the sandbox is broken');
    let made = 0;
    const endless = (signal: AbortSignal) =>
      inChunks('drawn', { count: 1_000_000, signal }, async () => made++);
    const failing = async (): Promise<never> => {
      await nextTurn();
      throw broken;
    };
    await expect(beside([endless, failing])).rejects.toBe(broken);
    const before = made;
    expect(before).toBeLessThan(1000);
    await nextTurn();
    await nextTurn();
    expect(made).toBe(before);
  });

  it('say their progress at every 256 and at the end', async () => {
    const said: number[] = [];
    await inChunks(
      'drawn',
      { count: 600, onEvent: (event) => event.kind === 'progress' && said.push(event.done) },
      async (index) => index,
    );
    expect(said).toEqual([256, 512, 600]);
  });
});
