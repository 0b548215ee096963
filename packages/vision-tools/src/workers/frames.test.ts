import { describe, expect, it } from 'vitest';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';
import { decodeReply } from './reply.ts';
import { defaultRestartLimits, Restarts } from './restarts.ts';

const bytesOf = (header: Record<string, unknown>, blobs: readonly Uint8Array[] = []): Buffer =>
  Buffer.concat(encodeFrame(header, blobs));

describe('frames', () => {
  it('come back whole however they are cut', () => {
    const frames = [bytesOf({ a: 'ä' }, [Buffer.from('one'), Buffer.alloc(0)]), bytesOf({ b: 2 })];
    const stream = Buffer.concat(frames);
    for (const size of [1, 3, 7, stream.length]) {
      const reader = new FrameReader();
      const found: Frame[] = [];
      for (let at = 0; at < stream.length; at += size) {
        found.push(...reader.push(stream.subarray(at, at + size)));
      }
      expect(found.map(({ header }) => header)).toEqual([
        { a: 'ä', blobs: [3, 0] },
        { b: 2, blobs: [] },
      ]);
      expect(Buffer.from(found[0]?.blobs[0] ?? []).toString()).toBe('one');
    }
  });

  it.each<[string, Buffer]>([
    ['too long', Buffer.from('ffffffff04000000', 'hex')],
    ['a header beyond its frame', Buffer.from('0400000008000000', 'hex')],
    ['no JSON', Buffer.concat([Buffer.from('0300000003000000', 'hex'), Buffer.from('{a}')])],
    ['no blobs', Buffer.concat([Buffer.from('0200000002000000', 'hex'), Buffer.from('{}')])],
    [
      'blobs that are not there',
      Buffer.concat([Buffer.from('0d0000000d000000', 'hex'), Buffer.from('{"blobs":[9]}')]),
    ],
  ])('are refused: %s', (_, bytes) => {
    expect(() => new FrameReader().push(bytes)).toThrow();
  });
});

describe('replies', () => {
  const fine = { id: 1, ok: true, result: null, sizes: [], ms: 1, cpuMs: 1 };
  it.each<[string, object, readonly Uint8Array[]]>([
    ['of another kind', { ...fine, ok: 'yes' }, []],
    ['with a time below zero', { ...fine, ms: -1 }, []],
    ['with sizes of no image', { ...fine, sizes: [[3, 3]] }, []],
    ['with an image that is none', { ...fine, sizes: [[3, 3]] }, [Buffer.from('GIF89a')]],
    [
      'with an unknown fault',
      { id: 1, ok: false, fault: 'x', type: '', message: '', trace: '' },
      [],
    ],
  ])('are refused: %s', (_, header, blobs) => {
    expect(() => decodeReply({ header, blobs })).toThrow();
    expect(decodeReply({ header: fine, blobs: [] })).toMatchObject({ kind: 'result', id: 1 });
  });
});

describe('restarts', () => {
  it('wait twice as long after each failure, from 0.1 to 5 seconds', () => {
    const restarts = new Restarts({ ...defaultRestartLimits, breakAfter: 100 });
    expect(restarts.delay(0)).toBe(0);
    const delays = Array.from({ length: 8 }, () => {
      restarts.failed(1000, 'gone');
      return restarts.delay(1000);
    });
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(restarts.delay(3000)).toBe(3000);
    restarts.succeeded();
    expect(restarts.delay(3000)).toBe(0);
  });

  it('stop after six failures in a row, and try again after 30 seconds', () => {
    const restarts = new Restarts(defaultRestartLimits);
    for (let failures = 0; failures < 5; failures++) restarts.failed(0, 'gone');
    expect(restarts.broken(0)).toBeUndefined();
    restarts.failed(0, 'gone');
    expect(restarts.broken(29_999)).toMatch(/failed 6 times in a row, the last with: gone/);
    expect(restarts.broken(30_000)).toBeUndefined();
    restarts.failed(30_000, 'gone again');
    expect(restarts.broken(30_001)).toMatch(/gone again/);
  });
});
