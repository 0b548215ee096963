import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type ClusterState, type PartState, pathsOf } from './state.ts';
import { trainingSettings } from './training-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'saccade-cluster-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const paths = pathsOf(folder, 'mine');
mkdirSync(paths.directory);
writeFileSync(join(paths.directory, 'cluster.json'), JSON.stringify({ worker: { model: 'base' } }));
writeFileSync(paths.plan, '{}');

function stateOf(...parts: readonly (readonly [string, PartState['state']])[]): ClusterState {
  const all = parts.map(([name, state], i) => {
    const group = name.split('-')[0];
    return { name, group, state, url: `http://127.0.0.1:${8800 + i}` };
  });
  return { parts: all } as unknown as ClusterState;
}

it('samples on all engines that are healthy, and runs code on all sandboxes', () => {
  const healthy = ['worker-0', 'engines-0', 'engines-1', 'sandboxes-0', 'sandboxes-1'] as const;
  const parts = healthy.map((name) => [name, 'healthy'] as const);
  const { settings } = trainingSettings(paths, stateOf(...parts, ['engines-2', 'starting']));
  expect(settings).toEqual([
    ...['model=remote', 'model.baseUrl=http://127.0.0.1:8800', 'model.from=base'],
    ...['engine=http', 'engine.baseUrl=http://127.0.0.1:8801,http://127.0.0.1:8802'],
    ...['sandbox=remote', 'sandbox.hosts=http://127.0.0.1:8803,http://127.0.0.1:8804'],
  ]);
});

it('refuses a cluster none of whose engines is healthy', () => {
  const state = stateOf(['engines-0', 'starting']);
  expect(() => trainingSettings(paths, state)).toThrow(/engines-0 is starting/);
});
