/** Metrics of several parts as one text that Prometheus reads. */
import { newServiceApp, openService, type Service } from '@saccade/http/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectMetrics, joinExpositions } from './metrics.ts';
import type { ClusterState, PartState } from './state.ts';

const services: Service[] = [];
beforeAll(async () => {
  for (const name of ['first', 'second']) {
    const app = newServiceApp({ routes: 'GET /health' });
    app.get('/health', (context) => context.json({ status: 'healthy' }));
    services.push(await openService({ name: 'part', app, token: `${name}-secret` }));
  }
});
afterAll(() => Promise.all(services.map((service) => service.drain())));

const part = (name: string, url: string | null, state: PartState['state']): PartState => ({
  ...{ name, url, state, group: 'sandboxes', ranks: 1, since: 0, reason: null, nodes: [] },
  ...{ health: '/health', metrics: '/metrics', pids: [], restarts: 2, log: '', lastLine: '' },
});

function stateWith(parts: readonly PartState[]): ClusterState {
  return {
    ...{ format: 1, id: 'x', name: 'x', phase: 'up', reason: null, began: 0, written: 0 },
    supervisor: { pid: 1, started: null },
    ray: { version: '2.58.0', address: null },
    parts: [...parts],
  };
}

/** Lines by the rules of the format: a description once, and before all samples of its metric. */
function expectWellFormed(text: string): void {
  const types = new Map<string, string>();
  const finished = new Set<string>();
  let current = '';
  for (const line of text.trimEnd().split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type?.[1] !== undefined) {
      expect(types.has(type[1])).toBe(false);
      types.set(type[1], type[2] ?? '');
    }
    if (line.startsWith('#')) continue;
    // prom-client writes "Nan", which Prometheus reads.
    const sample = /^([a-zA-Z_:]\w*)(\{[^{}]*\})? ([-+0-9.e]+|NaN|[-+]?Inf)$/i.exec(line);
    expect([line, sample !== null]).toEqual([line, true]);
    const name = sample?.[1] ?? '';
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (family !== current) {
      expect(finished.has(family)).toBe(false);
      finished.add(current);
      current = family;
    }
  }
}

it('joins real services under the names of their parts, and counts one that is gone as down', async () => {
  const parts = services.map(({ url }, index) => part(`sandbox-${index}`, url, 'healthy'));
  const gone = part('sandbox-2', 'http://127.0.0.1:9', 'unhealthy');
  const none = part('sandbox-3', null, 'placing');
  const text = await collectMetrics(stateWith([...parts, gone, none]), 'first-secret');
  expectWellFormed(text);
  const rows = text.split('\n');
  // The second one has another secret: it refuses, and so is down.
  expect(rows.filter((row) => row.startsWith('saccade_cluster_up'))).toEqual([
    'saccade_cluster_up{part="sandbox-0",group="sandboxes"} 1',
    'saccade_cluster_up{part="sandbox-1",group="sandboxes"} 0',
    'saccade_cluster_up{part="sandbox-2",group="sandboxes"} 0',
    'saccade_cluster_up{part="sandbox-3",group="sandboxes"} 0',
  ]);
  expect(rows).toContain('saccade_cluster_restarts_total{part="sandbox-2",group="sandboxes"} 2');
  expect(text).toMatch(/process_cpu_seconds_total\{part="sandbox-0",group="sandboxes"\} [0-9.]+/);
  expect(text).not.toContain('secret');
});

describe('joining texts', () => {
  const labels = { part: 'a' };

  it('keeps histograms together, labels that are there, and values of every kind', () => {
    const histogram = [
      '# HELP wait_seconds Time',
      '# TYPE wait_seconds histogram',
      'wait_seconds_bucket{le="0.1",path="/x}y"} 1',
      'wait_seconds_bucket{le="+Inf"} 2',
      'wait_seconds_sum 0.3',
      'wait_seconds_count 2',
      '# TYPE other gauge',
      'other NaN',
    ].join('\n');
    const text = joinExpositions([
      { labels, text: histogram },
      { labels: { part: 'b' }, text: histogram },
    ]);
    expect(text.match(/# TYPE wait_seconds histogram/g)).toHaveLength(1);
    expect(text).toContain('wait_seconds_bucket{part="a",le="0.1",path="/x}y"} 1\n');
    expect(text.indexOf('wait_seconds_count{part="b"}')).toBeLessThan(
      text.indexOf('other{part="a"}'),
    );
    expect(text).toContain('other{part="b"} NaN\n');
  });

  it('leaves out what is no metric', () => {
    const text = joinExpositions([
      { labels, text: '<html>\nBad gateway\n{}\n 5\nfine 1\nbad{x="1"\nname\n# EOF\n' },
    ]);
    expect(text.split('\n').filter((row) => row.startsWith('fine'))).toEqual(['fine{part="a"} 1']);
    expect(text).not.toMatch(/html|EOF|name/);
  });
});
