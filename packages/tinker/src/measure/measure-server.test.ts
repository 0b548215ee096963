import { afterAll, describe, expect, it } from 'vitest';
import { openTinkerClient } from '../client/tinker-client.ts';
import { ForeignServer, type Quirks, skyRlJax } from '../foreign-server.fixture.ts';
import { BASE, processor, TinyServer, tinyDevice } from '../tiny-learner.fixture.ts';
import { type MeasureOptions, measureServer } from './measure-server.ts';
import { describeMeasurement, type Measurement } from './measurement.ts';

const device = tinyDevice();
afterAll(() => device.dispose());

async function measure(
  server: { url: string; fetch: typeof fetch },
  options: Partial<MeasureOptions> = {},
): Promise<Measurement> {
  const client = await openTinkerClient({ baseUrl: server.url, fetch: server.fetch });
  try {
    const request = { baseModel: BASE };
    return await measureServer(client, { request, processor, ...options });
  } finally {
    client.dispose();
  }
}

async function measureForeign(
  quirks: Quirks,
  options: Partial<MeasureOptions> = {},
): Promise<Measurement> {
  const server = new ForeignServer(device, quirks);
  try {
    return await measure(server, options);
  } finally {
    server.dispose();
  }
}

const lora = { baseModel: BASE, lora: { rank: 4 } };

describe('the measurement of a server', () => {
  it('takes ours for linear, with every field, its images and its adapters', async () => {
    const server = new TinyServer(device);
    for (const request of [{ baseModel: BASE }, lora]) {
      const measured = await measure(server, { request });
      expect(describeMeasurement(measured).join('\n')).not.toContain('BAD');
      expect(measured).toMatchObject({
        verdict: 'linear',
        isExtended: true,
        ignoredFields: [],
        seesImages: true,
        namedLosses: ['importance_sampling', 'ppo', 'cispo'],
      });
    }
    await server.dispose();
  });

  it('takes a plain server with sums for linear', async () => {
    const measured = await measureForeign({});
    expect(measured).toMatchObject({ verdict: 'linear', isExtended: false, ignoredFields: [] });
    expect(measured.path).toEqual({
      loss: 'cross_entropy',
      perDatum: false,
      perToken: false,
      scale: 1,
    });
  });

  it('finds the way through importance sampling of a fake of SkyRL’s JAX backend', async () => {
    const measured = await measureForeign(skyRlJax, { images: false, request: lora });
    expect(measured.verdict).toBe('linearized');
    expect(measured.path).toMatchObject({
      loss: 'importance_sampling',
      perDatum: true,
      perStep: true,
      perToken: true,
    });
    expect(measured.ignoredFields).toEqual(['grad_clip_norm']);
    expect(measured.path?.scale).toBeCloseTo(1, 1);
    expect(describeMeasurement(measured)[0]).toContain('importance_sampling');
  });

  it.each<[string, Quirks, Partial<MeasureOptions>, RegExp]>([
    ['drops images without an error', skyRlJax, {}, /Images do not reach/],
    ['shows one image for all', { images: 'ignored' }, {}, /Images do not reach/],
    ['has the wrong sign', { crossEntropy: 'inverted' }, { images: false }, /wrong sign/],
    [
      'trains all where an adapter is asked for',
      { trainsAll: true },
      { images: false, request: lora },
      /adapter/,
    ],
    [
      'takes weights for masks, and knows no other loss',
      { crossEntropy: 'mask', importanceSampling: 'none' },
      { images: false },
      /linear/,
    ],
    ['tells no norm', { hidesNorm: true }, { images: false }, /norm/],
  ])('refuses a server that %s', async (_, quirks, options, reason) => {
    const measured = await measureForeign(quirks, options);
    expect(measured.verdict).toBe('refused');
    expect(measured.reasons.join('\n')).toMatch(reason);
    expect(measured.path).toBeUndefined();
  });

  it('takes importance sampling where weights are masks', async () => {
    const measured = await measureForeign({ crossEntropy: 'mask' }, { images: false });
    expect(measured).toMatchObject({
      verdict: 'linearized',
      path: { loss: 'importance_sampling', perDatum: false, perToken: false },
    });
  });

  it('leaves only losses of its own where the divisor is unknown', async () => {
    const quirks: Quirks = { crossEntropy: 'none', importanceSampling: 'active' };
    const measured = await measureForeign(quirks, { images: false });
    expect(measured).toMatchObject({
      verdict: 'named',
      namedLosses: ['importance_sampling', 'ppo', 'cispo'],
    });
    expect(measured.path).toBeUndefined();
  });

  it.each(['beta1', 'beta2', 'weight_decay', 'eps', 'grad_clip_norm'])(
    'notices that %s is ignored',
    async (field) => {
      const measured = await measureForeign({ ignores: [field] }, { images: false });
      expect(measured.ignoredFields).toContain(field);
    },
  );
});
