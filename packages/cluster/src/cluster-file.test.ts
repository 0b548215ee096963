/** What a cluster file may say, and the sentence for what it may not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClusterFile } from './cluster-file.ts';
import { planCluster } from './plan.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-cluster-file-'));
  mkdirSync(join(folder, 'policy'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, changes = {}) {
  const path = join(folder, 'cluster.yaml');
  writeFileSync(path, text);
  return readClusterFile(path, changes);
}

const context = { id: 'the-id', directory: '/shared/clusters/x', saccade: ['node', 'saccade.js'] };

it('fills in defaults, and finds paths from the folder of the file', () => {
  const file = read('worker: { model: policy, options: [--threads, 2] }');
  expect(file).toMatchObject({
    name: 'saccade',
    ray: { python: 'python3', listen: 'auto' },
    worker: { model: join(folder, 'policy'), ranks: 1, gpus: 0, options: ['--threads', '2'] },
    limits: { graceSeconds: 30 },
  });
  expect(file.engines).toBeUndefined();
});

it('gives engines the model of the worker, and its prefix to no program of others', () => {
  const file = read(
    'worker: { model: hf:owner/name }\nengines: { kind: vllm, count: 2, port: 9000 }',
  );
  const { parts } = planCluster(file, context);
  expect(parts.map(({ name, port }) => [name, port])).toEqual([
    ['worker', 0],
    ['engine-0', 9000],
    ['engine-1', 9001],
  ]);
  expect(parts[0]?.command).toContain('owner/name');
  expect(parts[1]?.command.slice(0, 3)).toEqual(['vllm', 'serve', 'owner/name']);
  expect(parts[1]?.variables).toMatchObject({ VLLM_SERVER_DEV_MODE: '1' });
});

it('plans as many processors as the parts take, and a secret only where others reach them', () => {
  const text = 'worker: { model: policy, ranks: 4, gpus: 0.5, cpus: 2 }\nsandboxes: { count: 3 }';
  expect(planCluster(read(text), context)).toMatchObject({
    ...{ cpus: 11, gpus: 2, host: '127.0.0.1', token: null, address: null },
    strategies: { worker: 'PACK', sandboxes: 'SPREAD' },
  });
  const open = read(`${text}\nray: { address: auto }`);
  const { host, token, parts } = planCluster(open, { ...context, token: 'secret' });
  expect([host, token]).toEqual(['0.0.0.0', 'secret']);
  expect(parts.at(-1)?.variables).toMatchObject({ SACCADE_SANDBOX_TOKEN: 'secret' });
  expect(parts.flatMap(({ command }) => command)).not.toContain('secret');
  expect(
    planCluster(read(`${text}\nray: { address: auto }`, { isLocal: true }), context),
  ).toMatchObject({
    address: null,
    host: '127.0.0.1',
  });
});

describe('a mistake is one sentence with the field', () => {
  it.each([
    ['', /not the parts of a cluster/],
    ['[1, 2]', /not the parts of a cluster/],
    ['worker: {', /cannot be read as YAML or JSON/],
    ['name: x', /has no parts. Give it at least one of worker, engines and sandboxes/],
    ['workers: {}', /There is no setting workers of a cluster. Did you mean worker\?/],
    ['worker: {}', /worker.model: expected text \(path or name\), got nothing/],
    ['worker: { model: none }', /worker.model: there is no directory .*none.*hf:owner\/name/],
    ['worker: { model: policy, ranks: 0 }', /worker.ranks: expected an integer in \[1, 4096\]/],
    ['worker: { model: policy, rank: 2 }', /Did you mean worker.ranks/],
    ['worker: { model: policy, port: 99999 }', /worker.port: expected an integer/],
    ['worker: { model: policy, variables: [A] }', /variables: expected NAME=value, got "A"/],
    ['engines: {}', /engines.model: there is no worker to take a model from/],
    ['engines: { model: hf:a/b }', /saccade serve policy takes a directory, got "hf:a\/b"/],
    [
      'engines: { model: policy, kind: tgi }',
      /engines.kind: expected one of saccade, vllm, sglang/,
    ],
    ['sandboxes: 2', /sandboxes: expected an object with fields, got 2/],
    ['sandboxes: {}\nname: a/b', /name: expected letters, digits, - and _, got "a\/b"/],
    ['sandboxes: {}\nname: ..', /name: expected letters/],
    ['sandboxes: {}\nray: { listen: everyone }', /ray.listen: expected one of auto, loopback, all/],
    ['sandboxes: {}\nlimits: { graceSeconds: -1 }', /limits.graceSeconds: expected a number/],
  ])('%j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('for a file that is not there', () => {
    expect(() => readClusterFile('/nowhere/cluster.yaml')).toThrow(/There is no cluster file/);
  });
});

it('never gives a part or a command what no file says, whatever it says', () => {
  // Fields of every kind at every place: refused with a sentence, or planned whole.
  const values = ['1', '"x"', 'null', '[]', '{}', 'true', '[1]', '-3', '1e9', '{ a: 1 }'];
  const fields = ['name', 'ray', 'worker', 'engines', 'sandboxes', 'limits', 'worker.ranks'];
  for (const field of fields) {
    for (const value of values) {
      const [key, inner] = field.split('.');
      const text =
        inner === undefined ? `${key}: ${value}` : `${key}: { model: policy, ${inner}: ${value} }`;
      try {
        const plan = planCluster(read(`${text}\n`), context);
        expect(plan.parts.length).toBeGreaterThan(0);
      } catch (error) {
        const { message, code } = error as { readonly message: string; readonly code?: string };
        expect([text, code]).toEqual([text, expect.stringMatching(/^(config|data)$/)]);
        expect(message.split('\n')).toHaveLength(1);
      }
    }
  }
});
