/** The real command line, end to end, on one tiny case. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { probeForTests } from '@saccade/backend-webgpu/software-gpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Before the probe points this process at a software GPU: a run has to find it by itself.
const environment = { ...process.env };
const webgpu = await probeForTests();
const program = fileURLToPath(new URL('../bin/bench.js', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env: environment });

describe('the command line', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'saccade-bench-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('measures a case, writes it down, and compares with it', () => {
    const json = join(folder, 'add.json');
    const few = [
      '--filter',
      'gatherRows',
      '--dtype',
      'f32',
      '--rounds',
      '5',
      '--seconds',
      '0.1',
      '--threads',
      '1',
    ];
    const first = run(...few, '--json', json);
    expect(first.status, first.stderr).toBe(0);
    const written = JSON.parse(readFileSync(json, 'utf8'));
    expect(written).toMatchObject({
      command: expect.stringContaining('--filter gatherRows'),
      machine: { processor: expect.any(String) },
      peak: { f32: { flops: expect.any(Number) } },
    });
    const passes = written.results.map(
      ({ dtype, pass }: Record<string, string>) => `${dtype} ${pass}`,
    );
    expect(passes.slice(0, 2)).toEqual(['f32 forward', 'f32 backward']);
    for (const { seconds, accuracy, shareOfRoofline } of written.results) {
      expect(seconds.count).toBeGreaterThanOrEqual(5);
      expect(seconds.p20).toBeLessThanOrEqual(seconds.p80);
      expect(accuracy.error).toBeLessThan(1e-5);
      expect(shareOfRoofline).toBeGreaterThan(0);
    }
    // Quiet when piped: the table is all there is on stdout.
    expect(first.stdout).toMatch(/^op +case/);
    expect(first.stdout).not.toContain('Running');
    const second = run(...few, '--baseline', json);
    expect(second.stdout).toMatch(/× (tie|faster|slower)/);
  });

  it.runIf(webgpu.available)('measures on WebGPU, and names the adapter', () => {
    const json = join(folder, 'webgpu.json');
    const few = [
      '--filter',
      'gemm M16,nothing',
      '--pass',
      'forward',
      '--rounds',
      '5',
      '--seconds',
      '0.1',
    ];
    const { status, stderr } = run('--backend', 'webgpu', ...few, '--json', json);
    expect(status, stderr).toBe(0);
    const { backend, results } = JSON.parse(readFileSync(json, 'utf8'));
    expect(backend).toMatch(/^WebGPU, ./);
    expect(results[0]).toMatchObject({ op: 'gemm', pass: 'forward', dtype: 'f32' });
    expect(results[0].accuracy.error).toBeLessThan(1e-5);
    // Half floats are measured where the adapter has them; else the run says why not.
    const hasHalves = results.some(({ dtype }: { dtype: string }) => dtype === 'f16');
    expect(hasHalves).not.toBe(stderr.includes('no f16: the adapter has no shader-f16'));
  });

  it('says what it knows when it is asked for something else', () => {
    const wrong = [
      [['tabel'], /There is no command "tabel"\. Did you mean table\?/],
      [['table', '--filter', 'nothing'], /No row matches "nothing"\. The rows are: /],
      [['--filter', 'nothing'], /No case matches.*The ops are: adamwStep/],
      [['--dtype', 'f8'], /Pass some of f32/],
      [['--backend', 'gpu'], /Pass native, webgpu or reference/],
      [['--isa', 'mmx'], /isa is "mmx", which this processor lacks/],
      [['--pass', 'sideways'], /Pass some of forward, backward, both/],
      [['--rounds', '0'], /whole number/],
      [['--baseline', join(folder, 'nowhere.json')], /no result of a benchmark/],
    ] as const;
    for (const [args, message] of wrong) {
      const { status, stderr } = run(...args);
      expect(status).toBe(1);
      expect(stderr).toMatch(message);
    }
  });
});
