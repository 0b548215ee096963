/** What is said where a cluster cannot start: no Python, no Ray, another start, another file. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identifyProcess } from '@saccade/core/processes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkCluster } from './cluster-file.ts';
import { startCluster } from './start-cluster.ts';
import { type ClusterState, pathsOf, writeWhole } from './state.ts';

const workerFolder = join(import.meta.dirname, '../../../workers/torch');
/** A Python of this machine that has no Ray, for what is said then. */
const plain = ['python3', 'python'].find((name) => {
  const { error, status } = spawnSync(name, ['-c', 'import ray']);
  return error === undefined && status !== 0;
});
if (plain === undefined) {
  console.log(
    'Not run here: what is said without Ray. Every Python here has it, or there is none.',
  );
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-cluster-start-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (python: string, fields: object = { sandboxes: {} }, withWorker = true) =>
  startCluster({
    file: checkCluster({ ...fields }, folder, { python }),
    ...{ folder, saccade: ['saccade'], environment: process.env },
    ...(withWorker && { workerFolder }),
  });

it('says where Python is missing', async () => {
  await expect(start('/nowhere/python3')).rejects.toThrow(
    /There is no Python at \/nowhere\/python3. Install Python 3.11 or newer, or name another/,
  );
});

it.skipIf(plain === undefined)(
  'says what is missing from a Python, and how it comes there',
  async () => {
    const said = /python3? has no Ray. Run: python3? -m pip install '\.\/workers\/torch\[ray\]'/;
    await expect(start(plain ?? '')).rejects.toThrow(said);
    await expect(start(plain ?? '', { sandboxes: {} }, false)).rejects.toThrow(
      /has no saccade-worker/,
    );
  },
);

it('says that something else is no Python', async () => {
  await expect(start('/bin/false')).rejects.toThrow(/\/bin\/false cannot be used/);
});

it('refuses a second start while the first is under way, and takes the place of one that died', async () => {
  const paths = pathsOf(folder, 'saccade');
  mkdirSync(paths.directory);
  const lock = join(paths.directory, 'up.lock');
  writeFileSync(lock, JSON.stringify(identifyProcess(process.pid)));
  await expect(start('/nowhere/python3')).rejects.toThrow(/is being started by another command/);
  writeFileSync(lock, JSON.stringify({ pid: process.pid, started: '1' }));
  await expect(start('/nowhere/python3')).rejects.toThrow(/There is no Python/);
});

it('does nothing where the same cluster is up, and refuses another of its name', async () => {
  const paths = pathsOf(folder, 'saccade');
  const file = checkCluster({ sandboxes: {} }, folder, { python: 'python3' });
  // This very process stands for a supervisor that runs.
  const state: ClusterState = {
    ...{ format: 1, id: 'x', name: 'saccade', phase: 'up', reason: null, began: 0, written: 0 },
    supervisor: identifyProcess(process.pid),
    ...{ ray: { version: '2.58.0', address: null }, parts: [] },
  };
  mkdirSync(paths.directory);
  writeWhole(join(paths.directory, 'cluster.json'), file);
  writeWhole(paths.state, state);
  expect(await start('python3')).toMatchObject({ isNew: false, state: { phase: 'up' } });
  await expect(start('python3', { sandboxes: { count: 2 } })).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(/A cluster saccade is up from another file/),
  });
});
