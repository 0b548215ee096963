import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { openTinkerClient } from '../client/tinker-client.ts';
import { ForeignServer, skyRlJax } from '../foreign-server.fixture.ts';
import { measureServer } from '../measure/measure-server.ts';
import { BASE, processor, tinyDevice } from '../tiny-learner.fixture.ts';
import { openRecorder } from './record.ts';
import { parseRecording } from './recording.ts';
import { replayServer } from './replay.ts';

const device = tinyDevice();
afterAll(() => device.dispose());

const label = { server: 'imitation', version: '1', ran: 'this test', date: '2026-11-27' };
const request = { baseModel: BASE, lora: { rank: 4 } };

async function measure(reach: { baseUrl: string; fetch?: typeof fetch }, images = false) {
  const client = await openTinkerClient(reach);
  try {
    return await measureServer(client, { request, processor, images });
  } finally {
    client.dispose();
  }
}

it('gives a conversation again as it was recorded through the proxy', async () => {
  const foreign = new ForeignServer(device, skyRlJax);
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const { method = 'GET', url } = incoming;
    const body = Buffer.concat(pieces);
    const answer = await foreign.fetch(`http://foreign.test${url}`, {
      method,
      ...(body.length > 0 && { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const recorder = await openRecorder({ to: `http://127.0.0.1:${port}`, label });
  const there = await measure({ baseUrl: recorder.url }, true);
  const recording = parseRecording('the recording', recorder.text());
  await recorder.close();
  server.close();
  foreign.dispose();

  const replay = replayServer(recording);
  expect(await measure({ baseUrl: replay.url, fetch: replay.fetch }, true)).toEqual(there);
  replay.expectFinished();

  // Another request than those that were recorded is refused, and said.
  const other = replayServer(recording);
  await measure({ baseUrl: other.url, fetch: other.fetch }, false).catch(() => {});
  expect(() => other.expectFinished()).toThrow(/of imitation 1 does not hold/);
  const unused = replayServer(recording);
  expect(() => unused.expectFinished()).toThrow(/recorded requests were not made/);
});

it('names the line of a recording that cannot be read', () => {
  expect(() => parseRecording('r.jsonl', '{"format":"other"}\n')).toThrow(/r.jsonl: line 1/);
});
