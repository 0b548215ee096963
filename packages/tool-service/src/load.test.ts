/** Twenty seconds of the load that `bin/load.js` makes, with more faults. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runLoad } from './load.ts';
import { loadModule, python } from './service.fixture.ts';

const group = (name: string, ...names: readonly string[]) => ({
  ...{ name, copies: 2, concurrency: 2 },
  tools: names.map((tool) => ({ name: tool })),
});

// A folder of its own, so that nobody else's files count.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'saccade-load-test-'));
  vi.stubEnv('TMPDIR', folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

describe('under load', () => {
  it('every call ends once, in the right way, and nothing is left', async () => {
    const report = await runLoad({
      groups: [group('plain', 'digest_tool', 'show_tool'), group('device', 'device_tool')],
      ...{ modules: [loadModule], loadModule, python },
      ...{ rollouts: 16, seconds: 20, faultShare: 0.05, maxBatch: 4 },
      ...{ timeoutSeconds: 240, runSeconds: 5, memoryMib: 256 },
    });
    expect(report.violations).toEqual([]);
    const ends = Object.values(report.ends).flatMap((kinds) => Object.values(kinds));
    expect(ends.reduce((sum, count) => sum + count, 0)).toBe(report.calls);
    expect(report.ends.none?.ok).toBeGreaterThan(50);
    expect(report.leftovers).toEqual({ processes: [], sockets: 0, files: [] });
  }, 600_000);
});
