import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzzService } from '@saccade/http/contract';
import { patientFetch } from '@saccade/http/patient-fetch';
import { afterAll, expect, it } from 'vitest';
import { openTinkerClient } from '../client/tinker-client.ts';
import { BASE, tinyDevice, tinyModels } from '../tiny-learner.fixture.ts';
import { openLearnerService } from './learner-service.ts';

const device = tinyDevice();
const directory = mkdtempSync(join(tmpdir(), 'saccade-learner-'));
afterAll(() => {
  device.dispose();
  rmSync(directory, { recursive: true });
});
const open = (options: Partial<Parameters<typeof openLearnerService>[0]> = {}) =>
  openLearnerService({ models: tinyModels(device), directory, onFault: () => {}, ...options });

/** An authority of one certificate, and a certificate for a name. */
function certificate(name: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const made = spawnSync('openssl', [
    ...[...words, '-nodes', '-days', '2', '-subj', `/CN=${name}`],
    ...['-addext', 'subjectAltName=IP:127.0.0.1', '-out', cert, '-keyout', key],
  ]);
  if (made.status !== 0) throw new Error(`openssl is needed for this test: ${made.stderr}`);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

it('asks for its token, as x-api-key or bearer', async () => {
  const service = await open({ token: 'secret' });
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${service.url}/api/v1/get_server_capabilities`, { headers })).status;
  expect(await ask({})).toBe(401);
  expect(await ask({ 'x-api-key': 'wrong' })).toBe(401);
  expect(await ask({ 'x-api-key': 'secret' })).toBe(200);
  expect(await ask({ authorization: 'Bearer secret' })).toBe(200);
  const refused = await fetch(`${service.url}/api/v1/get_server_capabilities`);
  expect(await refused.json()).toMatchObject({ category: 'user', code: 'unauthorized' });
  // Load balancers ask without it.
  expect((await fetch(`${service.url}/api/v1/healthz`)).status).toBe(200);
  await service.drain(1);
});

it('speaks TLS, and asks clients for certificates of its authority', async () => {
  const [server, client, stranger] = ['server', 'client', 'stranger'].map(certificate);
  if (server === undefined || client === undefined || stranger === undefined) throw new Error();
  const service = await open({ tls: { ...server, clientCa: client.cert } });
  expect(service.url).toMatch(/^https:/);
  const reach = async (own: Partial<typeof client>) => {
    const { fetch: send, dispose } = patientFetch(5, { ca: server.cert, ...own });
    try {
      const limits = { retries: 0, returnSeconds: 0.1, lookSeconds: 0.05 };
      const learner = await openTinkerClient({ baseUrl: service.url, fetch: send, ...limits });
      learner.dispose();
      return learner.capabilities.models;
    } finally {
      await dispose();
    }
  };
  expect(await reach(client)).toEqual([BASE]);
  await expect(reach(stranger)).rejects.toThrow(/away|reached|broke/);
  await expect(reach({})).rejects.toThrow(/away|reached|broke/);
  await service.drain(1);
});

it('is asked again less and less often where it turns requests away', async () => {
  const service = await open();
  const until = Date.now() + 600;
  let refusals = 0;
  const send: typeof fetch = async (url, init) => {
    if (!String(url).endsWith('/get_server_capabilities') || Date.now() > until) {
      return await fetch(url, init);
    }
    refusals++;
    return new Response('busy', { status: 429 });
  };
  const limits = { retries: 0, lookSeconds: 0.05 };
  const learner = await openTinkerClient({ baseUrl: service.url, fetch: send, ...limits });
  expect(learner.capabilities.models).toEqual([BASE]);
  // Pauses of at least 25 ms, 50, 100, 200 and 400.
  expect(refusals).toBeLessThanOrEqual(6);
  learner.dispose();
  await service.drain(1);
});

it('withstands malformed requests', async () => {
  const maxBytes = 2 ** 20;
  const service = await open({ maxBytes });
  const paths = ['/forward', '/create_model', '/retrieve_future', '/asample', '/optim_step'].map(
    (path) => `/api/v1${path}`,
  );
  const { problems } = await fuzzService({ url: service.url, paths, maxBytes }, { requests: 120 });
  expect(problems).toEqual([]);
  await service.drain(1);
});
