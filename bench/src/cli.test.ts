/** The real command line, end to end, on one tiny case. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../bin/bench.js', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });

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

  it('says what it knows when it is asked for something else', () => {
    const wrong = [
      [['--filter', 'nothing'], /No case matches.*The ops are: adamwStep/],
      [['--dtype', 'f8'], /Pass some of f32/],
      [['--backend', 'gpu'], /Pass native, webgpu or reference/],
      [['--isa', 'mmx'], /cannot run here/],
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
