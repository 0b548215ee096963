/** Attacks by hostile clients on the policy's service, and images that claim to be huge. */
import { deflateSync } from 'node:zlib';
import { nativeBackend } from '@saccade/backend-native';
import { drainUnderHalfSentBodies, fuzzService } from '@saccade/http/contract';
import type { Service } from '@saccade/http/service';
import { type Device, openDevice } from '@saccade/ops';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import { imageSize } from '../processor/image-size.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { openPolicyService } from './policy-service.ts';

const paths = [
  ...['/v1/completions', '/v1/chat/completions', '/inference/v1/generate', '/generate'],
  '/pause_generation',
  ...['/abort_requests', '/collective_rpc', '/update_weight_version', '/flush_cache'],
];
const maxBytes = 4 * 2 ** 20;

let device: Device;
let policy: LocalPolicy;
let service: Service;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 1 }));
  policy = tinyPolicy(device);
  service = await openPolicyService({ policy, maxBytes });
});
afterAll(async () => {
  await service?.drain(1);
  policy?.dispose();
  device?.dispose();
});

const SIZES: readonly (readonly [number, number])[] = [
  ...([
    [16_000, 16_000],
    [65_535, 65_535],
    [1, 100_000_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ] as const),
  ...([
    [4097, 4096],
    [20_000, 900],
    [0, 0],
    [2 ** 32 - 1, 1],
  ] as const),
];

const chunk = (type: string, data: Uint8Array): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.byteLength);
  return Buffer.concat([size, Buffer.from(type), data, Buffer.alloc(4)]);
};

/** Headers that declare a size, by format, and little or nothing behind them. */
const declaring: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  png: (width, height) => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width >>> 0, 0);
    header.writeUInt32BE(height >>> 0, 4);
    header.set([8, 0], 8);
    const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    const data = chunk('IDAT', deflateSync(Buffer.alloc(100_000)));
    return Buffer.concat([signature, chunk('IHDR', header), data, chunk('IEND', Buffer.alloc(0))]);
  },
  gif: (width, height) => {
    const bytes = Buffer.alloc(40);
    bytes.write('GIF89a', 'latin1');
    bytes.writeUInt16LE(width & 0xffff, 6);
    bytes.writeUInt16LE(height & 0xffff, 8);
    return bytes;
  },
  jpeg: (width, height) => {
    const bytes = Buffer.alloc(40);
    bytes.set([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc2, 0, 17, 8]);
    bytes.writeUInt16BE(height & 0xffff, 13);
    bytes.writeUInt16BE(width & 0xffff, 15);
    return bytes;
  },
  webp: (width, height) => {
    const bytes = Buffer.alloc(40);
    bytes.write('RIFF', 0, 'latin1');
    bytes.write('WEBPVP8X', 8, 'latin1');
    bytes.writeUIntLE((width - 1) & 0xffffff, 24, 3);
    bytes.writeUIntLE((height - 1) & 0xffffff, 27, 3);
    return bytes;
  },
};

async function sendImages(images: readonly Uint8Array[]) {
  const input_ids = images.map(() => tinyProcessor.imageToken);
  const image_data = images.map((bytes) => Buffer.from(bytes).toString('base64'));
  const response = await fetch(`${service.url}/generate`, {
    method: 'POST',
    body: JSON.stringify({ input_ids, image_data, sampling_params: { max_new_tokens: 1 } }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message ?? '' };
}

describe('images that declare to be huge', () => {
  it('are refused before they are decoded: a small file of 16000×16000 pixels', async () => {
    const png = await sharp({
      create: { width: 16_000, height: 16_000, channels: 3, background: '#000' },
    })
      .grayscale()
      .png({ compressionLevel: 9 })
      .toBuffer();
    const before = process.memoryUsage().rss;
    const spent = process.cpuUsage();
    const { status, message } = await sendImages([png]);
    expect([status, message]).toEqual([
      400,
      'An image of 16000×16000 has more than 41943040 pixels. Make it smaller.',
    ]);
    expect(process.cpuUsage(spent).user).toBeLessThan(4_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
  }, 180_000);

  it.each(Object.keys(declaring))('are refused in every size as %s', async (format) => {
    for (const [width, height] of SIZES) {
      const spent = process.cpuUsage();
      const { status } = await sendImages([declaring[format]?.(width, height) ?? Buffer.alloc(0)]);
      expect(status, `${width}×${height}`).toBe(400);
      expect(process.cpuUsage(spent).user, `${width}×${height}`).toBeLessThan(4_000_000);
    }
  });

  it('are refused where only together they are', async () => {
    const image = declaring.png?.(4096, 4096) ?? Buffer.alloc(0);
    const { status, message } = await sendImages(Array.from({ length: 9 }, () => image));
    expect(status).toBe(400);
    expect(message).toMatch(/pixels together, at most 134217728 are accepted/);
  });

  it('and images of no known format, or cut short, are told apart from those that fit', async () => {
    const image = sharp({ create: { width: 60, height: 40, channels: 3, background: '#123' } });
    for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
      const bytes = await image.clone().toFormat(format).toBuffer();
      expect(imageSize(bytes), format).toEqual({ width: 60, height: 40 });
      // Decoded; the prompt around it is what this model does not take.
      expect((await sendImages([bytes])).message, format).toMatch(/between its vision markers/);
      for (let cut = 0; cut < 40; cut++) imageSize(bytes.subarray(0, cut));
      expect((await sendImages([bytes.subarray(0, 20)])).status, format).toBe(400);
    }
    const lossless = await image.clone().webp({ lossless: true }).toBuffer();
    expect(imageSize(lossless)).toEqual({ width: 60, height: 40 });
    expect((await sendImages([Buffer.from('<svg width="1" height="1"/>')])).status).toBe(400);
  });
});

it('answers malformed requests with 2xx or 4xx, and health meanwhile', async () => {
  const before = process.memoryUsage().rss;
  const { problems } = await fuzzService({ ...service, paths, maxBytes }, { requests: 240 });
  expect(problems).toEqual([]);
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
}, 180_000);

it('ends within its grace whatever connections hold', async () => {
  const own = await openPolicyService({ policy, maxBytes });
  await drainUnderHalfSentBodies({ ...own, paths, maxBytes });
});
