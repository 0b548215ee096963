import { createLocalPolicy } from '@saccade/policy';
import { afterAll, expect, it } from 'vitest';
import { ForeignServer, type Quirks, skyRlJax } from '../foreign-server.fixture.ts';
import { BASE, model, processor, TinyServer, tinyDevice } from '../tiny-learner.fixture.ts';
import { runConformance } from './run-conformance.ts';

const device = tinyDevice();
afterAll(() => device.dispose());
const local = async () => createLocalPolicy({ device, model, processor, seed: 1 });

it('finds nothing wrong with our server, whole and with an adapter', async () => {
  const server = new TinyServer(device);
  const reach = { baseUrl: server.url, fetch: server.fetch, processor };
  const whole = await runConformance({ ...reach, local });
  expect(whole.filter(({ status }) => status !== 'ok')).toEqual([]);
  const request = { baseModel: BASE, lora: { rank: 4 } };
  const adapted = await runConformance({ ...reach, request });
  expect(adapted.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(adapted.filter(({ status }) => status === 'skipped').map(({ detail }) => detail)).toEqual([
    'there are no local weights to compare with',
  ]);
  await server.dispose();
});

it.each<[string, Quirks, RegExp]>([
  ['a normalized cross-entropy', skyRlJax, /not normalized/],
  ['an inverted sign', { crossEntropy: 'inverted' }, /effect/],
  ['weights as masks', { crossEntropy: 'mask' }, /not normalized/],
  ['ignored fields', { ignores: ['beta2', 'eps'] }, /effect/],
  ['images for nothing', { images: 'ignored' }, /another image/],
])('finds %s of a plain server', async (_, quirks, name) => {
  const server = new ForeignServer(device, quirks);
  const results = await runConformance({ baseUrl: server.url, fetch: server.fetch, processor });
  const failed = results.filter(({ status }) => status === 'failed');
  expect(failed.map((one) => one.name).join('\n')).toMatch(name);
  server.dispose();
});
