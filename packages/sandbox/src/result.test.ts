import { describe, expect, it } from 'vitest';
import { coordinateImage } from './contract.ts';
import { defaultLimits } from './limits.ts';
import { deathFrom } from './result.ts';
import { readResult } from './session-replies.ts';

const header = {
  kind: 'ok',
  stdout: 'a',
  stderr: '',
  images: [{ source: 'image', origin: { image: 'image_clue_0', map: [1, 0, 2, 0, 3, 4] } }],
  error: null,
  truncated: [],
  wallMs: 5,
  cpuMs: 12,
  maxRssKb: 100,
};
const png = coordinateImage(9, 4);

function read(changes: Record<string, unknown>, blobs: Uint8Array[] = [png]): unknown {
  const reply = { kind: 'result', number: 1, header: { ...header, ...changes }, blobs } as const;
  return readResult(reply, defaultLimits, 'process', 10)?.outcome;
}

describe('a result frame', () => {
  it('becomes an outcome, with sizes from the PNG and CPU time since the last one', () => {
    expect(read({})).toEqual({
      kind: 'ok',
      stdout: 'a',
      stderr: '',
      images: [
        {
          png,
          width: 9,
          height: 4,
          source: 'image',
          origin: { image: 'image_clue_0', map: [1, 0, 2, 0, 3, 4] },
        },
      ],
      truncated: [],
      wallMs: 5,
      cpuMs: 2,
      maxRssKb: 100,
      tier: 'process',
    });
  });

  it.each<[string, Record<string, unknown>, Uint8Array[]?]>([
    ['claims a kind that is ours to give', { kind: 'infraError' }],
    ['fails without an error', { kind: 'exception' }],
    ['has more text than allowed', { stdout: 'x'.repeat(defaultLimits.outputBytes + 1) }],
    ['has images without entries', { images: [] }],
    ['has entries without images', {}, []],
    ['has an image that is no PNG', {}, [new Uint8Array(100)]],
    ['has an image beyond the pixel limit', {}, [withWidth(100_000_000)]],
    ['has an image from nowhere', { images: [{ source: 'screen' }] }],
    ['has a file without a name', { images: [{ source: 'file' }] }],
    ['has a name without a file', { images: [{ source: 'value', file: 'a.png' }] }],
    ['has a name of two lines', { images: [{ source: 'file', file: 'a\nb.png' }] }],
    ['has a name without end', { images: [{ source: 'file', file: 'x'.repeat(1025) }] }],
    ['measures nonsense', { cpuMs: 'much' }],
    ['names a stream that is none', { truncated: ['everything'] }],
  ])('is refused if it %s', (_, changes, blobs) => {
    expect(read(changes, blobs)).toBeUndefined();
  });

  it('keeps where an image was found', () => {
    const images = [{ source: 'file', file: 'out/a b.png' }];
    expect(read({ images })).toMatchObject({ images: [{ source: 'file', file: 'out/a b.png' }] });
    expect(read({ images: [{ source: 'value' }] })).toMatchObject({
      images: [{ source: 'value' }],
    });
  });

  it('loses an origin that is no map', () => {
    const images = [{ source: 'image', origin: { image: 'image_clue_0', map: [1, 2, 3] } }];
    expect(read({ images })).not.toHaveProperty('images.0.origin');
  });
});

function withWidth(width: number): Uint8Array {
  const copy = Buffer.from(png);
  copy.writeUInt32BE(width, 16);
  return copy;
}

describe('the end of a process', () => {
  const end = { cause: 'exit', signal: 0, exitCode: 0, cpuMs: 0, maxRssKb: 0 };

  it('is a timeout when the server or the CPU limit caused it, else a crash', () => {
    expect(deathFrom({ ...end, cause: 'timeout', signal: 9 }, defaultLimits).kind).toBe('timeout');
    expect(deathFrom({ ...end, signal: 24 }, defaultLimits).kind).toBe('timeout');
    expect(deathFrom({ ...end, signal: 11 }, defaultLimits).kind).toBe('crashed');
    expect(deathFrom({ ...end, exitCode: 3 }, defaultLimits).message).toMatch(/exit status 3/);
  });
});
