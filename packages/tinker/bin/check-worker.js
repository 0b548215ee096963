#!/usr/bin/env node
/**
 * Holds the Python worker to the conformance suite, and to our own kernels number by number.
 *
 *   node packages/tinker/bin/check-worker.js --python PY [--processes 1] [--architecture qwen2_5_vl]
 *
 * Writes a small model with random weights, starts the worker on it, alone or under torchrun, and runs every
 * check. PY has what workers/torch/requirements.txt lists. Prints a line for each check, and "Parity holds." if
 * none failed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import { loadLocalPolicy, loadProcessor } from '@saccade/policy';
import { models } from '@saccade/policy/models';
import { runConformance } from '@saccade/tinker/conformance';

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    processes: { type: 'string', default: '1' },
    architecture: { type: 'string', default: 'qwen2_5_vl' },
  },
});
// A path is one of the caller's folder; a bare name is found on the PATH.
const python = values.python.includes('/') ? resolve(values.python) : values.python;
const workers = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'workers', 'torch');
/** Seconds in which a worker imports torch and reads the model. */
const PATIENCE = 240;

const folder = mkdtempSync(join(tmpdir(), 'saccade-worker-'));
const directory = join(folder, 'base');
const device = openDevice(nativeBackend());
let worker;
try {
  await writeModel();
  const url = await startWorker();
  const baseModel = directory;
  const results = await runConformance({
    baseUrl: url,
    processor: await loadProcessor(directory),
    request: { baseModel },
    local: () => loadLocalPolicy({ device, directory }),
    onResult: ({ number, name, status, detail }) => {
      const word = { ok: 'ok   ', failed: 'FAIL ', skipped: 'skip ' }[status];
      console.log(`${word} ${number} ${name}: ${detail}`);
    },
  });
  const isFine = results.every(({ status }) => status !== 'failed');
  console.log(isFine ? 'Parity holds.' : 'Parity does not hold.');
  if (!isFine) process.exitCode = 1;
} finally {
  worker?.kill('SIGTERM');
  device.dispose();
  rmSync(folder, { recursive: true, force: true });
}

async function writeModel() {
  const nano = models.get('nano');
  const settings = nano.settings.parse({
    architecture: values.architecture,
    layers: 2,
    hidden: 64,
    heads: 4,
    kvHeads: 2,
    intermediate: 128,
    visionLayers: 2,
    visionHidden: 32,
    visionHeads: 2,
    visionIntermediate: 64,
  });
  const corpus = ['Which digit is on the card? Look at the image, then answer.'];
  const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
  await policy.save(directory);
  policy.dispose();
}

/** Resolves to the address that the worker prints. */
function startWorker() {
  const own = ['-m', 'saccade_worker', '--model', directory, '--port', '0', '--threads', '1'];
  own.push('--checkpoints', join(folder, 'checkpoints'), '--expose-gradients', '--reference');
  const count = Number(values.processes);
  const group = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(count)];
  worker = spawn(python, count > 1 ? [...group, ...own] : own, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: workers },
  });
  let said = '';
  worker.stderr.on('data', (data) => {
    said = (said + data).slice(-4000);
  });
  return new Promise((found, failed) => {
    const late = setTimeout(
      () => failed(new Error(`No address in ${PATIENCE} s.\n${said}`)),
      1e3 * PATIENCE,
    );
    worker.once('error', failed);
    worker.once('exit', (code) => failed(new Error(`The worker ended with ${code}.\n${said}`)));
    createInterface(worker.stdout).on('line', (line) => {
      const address = / at (\S+)\/api\/v1$/.exec(line)?.[1];
      if (address === undefined) return;
      clearTimeout(late);
      worker.removeAllListeners('exit');
      found(address);
    });
  });
}
