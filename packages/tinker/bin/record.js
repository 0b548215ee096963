#!/usr/bin/env node
/**
 * Records what a client and a server of the Tinker protocol say to each other, as a proxy between them.
 *
 *   node packages/tinker/bin/record.js --to http://127.0.0.1:8000 --out skyrl.jsonl \
 *     --server SkyRL --version COMMIT --ran 'jax on CPU, 2 layers; saccade learner measure' -- COMMAND…
 *
 * Runs COMMAND with {url} in its arguments replaced by the proxy's address, then writes the file. Without a
 * COMMAND it listens on --port until it is interrupted. Kept are methods, paths, statuses and bodies: text as
 * it is, other bytes in base64, requests beyond 8 KiB by their SHA-256. No header but the content type is kept,
 * so no key is. Heartbeats are left out: they go by the clock.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openRecorder } from '@saccade/tinker/recorded';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    to: { type: 'string' },
    out: { type: 'string' },
    server: { type: 'string' },
    version: { type: 'string' },
    ran: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
});
const { to, out, server, version, ran } = values;
const missing = Object.entries({ to, out, server, version, ran }).find(([, value]) => !value);
if (missing !== undefined) {
  console.error(`--${missing[0]} is missing. The head of this file says what it means.`);
  process.exit(2);
}
const date = new Date().toISOString().slice(0, 10);
const label = { server, version, ran, date };
const recorder = await openRecorder({ to, label, port: Number(values.port) });
console.error(`Recording ${to} at ${recorder.url}`);
const [command, ...rest] = positionals.map((word) => word.replaceAll('{url}', recorder.url));
if (command === undefined) {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
} else {
  const [code] = await once(spawn(command, rest, { stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
}
const text = recorder.text();
writeFileSync(out, text);
await recorder.close();
console.error(`${out}: ${text.split('\n').length - 2} exchanges, ${text.length} characters.`);
