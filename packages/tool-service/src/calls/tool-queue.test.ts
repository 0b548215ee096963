import { refused } from '@saccade/tools';
import { describe, expect, it, vi } from 'vitest';
import { CallFault } from '../faults.ts';
import type { OnSettled, Place, PlacedCall } from '../places/place.ts';
import { type QueueLimits, ToolQueue } from './tool-queue.ts';

const outcome = { ...refused('BadArgument', ''), kind: 'ok' };

/** A place whose work ends when it is told to. */
class ManualPlace implements Place {
  readonly name = 'manual';
  readonly tools = [];
  readonly slots = 1;
  readonly works: { size: number; settle: OnSettled; end: () => void }[] = [];

  problem(): undefined {}
  async dispose(): Promise<void> {}
  run(_: string, calls: readonly PlacedCall[], settle: OnSettled): Promise<void> {
    return new Promise((end) => this.works.push({ size: calls.length, settle, end }));
  }

  /** Ends the oldest work that is left. */
  finish(): void {
    const work = this.works.shift();
    for (let index = 0; index < (work?.size ?? 0); index++) work?.settle(index, { outcome });
    work?.end();
  }
}

function open(limits: Partial<QueueLimits> = {}) {
  const place = new ManualPlace();
  const sizes: number[] = [];
  const seen = { late: 0 };
  const queue = new ToolQueue({
    ...{ tool: 'look', place, maxPixels: 1e6 },
    limits: { maxQueued: 4, maxBatch: 1, maxWaitMs: 0, maxRunning: 1, ...limits },
    onBatch: (size) => sizes.push(size),
    onLate: () => seen.late++,
  });
  const ask = (signal = new AbortController().signal) =>
    queue.run({ given: {}, images: [], signal, runMs: 1e6 });
  return { place, queue, sizes, seen, ask };
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('the queue of a tool', () => {
  it('refuses more than may wait, and nothing of it was started', async () => {
    const { place, queue, ask } = open({ maxQueued: 2 });
    const asked = [ask(), ask(), ask()];
    expect([queue.running, queue.length]).toEqual([1, 2]);
    await expect(ask()).rejects.toMatchObject({ kind: 'full' });
    for (const _ of asked) {
      place.finish();
      await turns();
    }
    await Promise.all(asked);
    expect([queue.running, queue.length]).toEqual([0, 0]);
  });

  it('sends what waits in batches, and a part of one when its time is over', async () => {
    const { place, sizes, ask } = open({ maxBatch: 3, maxWaitMs: 300 });
    const asked = [ask(), ask(), ask(), ask()];
    expect(sizes).toEqual([3]);
    place.finish();
    await turns();
    expect(sizes).toEqual([3]);
    await vi.waitFor(() => expect(sizes).toEqual([3, 1]), 10_000);
    place.finish();
    await Promise.all(asked);
  });

  it('lets go of one that leaves, waiting or running', async () => {
    const { place, queue, seen, ask } = open();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = ask(running.signal);
    const second = ask(waiting.signal);
    waiting.abort(new CallFault('deadline', 'late'));
    await expect(second).rejects.toMatchObject({ kind: 'deadline' });
    expect(queue.length).toBe(0);
    running.abort(new CallFault('left', 'gone'));
    await expect(first).rejects.toMatchObject({ kind: 'left' });
    // An outcome that comes now is dropped, and the place is free again.
    expect(queue.running).toBe(1);
    place.finish();
    await turns();
    expect([queue.running, seen.late]).toEqual([0, 1]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['another kind', { ...outcome, kind: 'fine' }],
    ['text for images', { ...outcome, images: 'none' }],
    ['an image that is none', { ...outcome, images: [{ ...image(1, 1), png: new Uint8Array(9) }] }],
    ['a size that is not so', { ...outcome, images: [image(7, 7)] }],
  ])('takes %s for no outcome', async (_, given) => {
    const { place, ask } = open();
    const asked = ask();
    place.works[0]?.settle(0, { outcome: given });
    await expect(asked).rejects.toMatchObject({ kind: 'garbled' });
  });
});

function image(width: number, height: number) {
  const png = new Uint8Array(
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC',
      'base64',
    ),
  );
  return { png, width, height, source: 'image' };
}
