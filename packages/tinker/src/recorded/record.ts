/** Records what a client and a server say to each other, as a proxy between them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '@saccade/core';
import {
  type Exchange,
  exchangeLine,
  labelLine,
  type RecordingLabel,
  recordedBody,
  recordedRequest,
} from './recording.ts';
import { untimed } from './replay.ts';

/** The server to record, and under which name. */
export interface RecorderOptions {
  /** Address of the server, without a path. */
  readonly to: string;
  readonly label: RecordingLabel;
  /** Port to listen on; 0 takes any. Loopback only. */
  readonly port?: number;
}

/** A proxy that listens. */
export interface Recorder {
  readonly url: string;
  /** The recording so far, as the text of a file. */
  text(): string;
  close(): Promise<void>;
}

/** Headers that a client's request goes on with: no others mean anything to a server of the wire. */
const PASSED = ['content-type', 'accept', 'authorization', 'x-api-key'];

/** Opens the proxy. Point a client at its `url`. */
export async function openRecorder({ to, label, port = 0 }: RecorderOptions): Promise<Recorder> {
  const target = to.replace(/\/+$/, '');
  const lines: (string | undefined)[] = [labelLine(label)];
  const server = createServer((request, response) => {
    // Its place is that of its request, however long the answer takes.
    const isKept = !untimed.includes(pathOf(request));
    const at = isKept ? lines.push(undefined) - 1 : -1;
    passOn(target, request, response)
      .then((exchange) => {
        if (isKept) lines[at] = exchangeLine(exchange);
      })
      .catch((error) => {
        // An exchange that failed between the two is not one of the server's.
        if (!response.headersSent) response.writeHead(502, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: `The recorder: ${messageOf(error)}` }));
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    text: () => lines.filter((line) => line !== undefined).join(''),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function passOn(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Exchange> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const bytes = new Uint8Array(Buffer.concat(pieces));
  const { method = 'GET' } = request;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers = PASSED.flatMap((name): [string, string][] => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const answer = await fetch(`${target}${request.url ?? '/'}`, {
    method,
    headers,
    signal: gone.signal,
    ...(bytes.length > 0 && { body: bytes }),
  });
  const given = new Uint8Array(await answer.arrayBuffer());
  const type = answer.headers.get('content-type');
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
  response.end(given);
  const asked = bytes.length === 0 ? null : request.headers['content-type'];
  return {
    method,
    path: pathOf(request),
    request: recordedRequest(bytes, asked),
    status: answer.status,
    answer: recordedBody(given, type),
  };
}

function pathOf(request: IncomingMessage): string {
  return new URL(request.url ?? '/', 'http://recorder').pathname;
}
