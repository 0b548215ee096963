/** The real command line, end to end, on one tiny case. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { probeForTests } from '@saccade/backend-webgpu/software-gpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Before the probe points this process at a software GPU: a run has to find it by itself.
const environment = { ...process.env };
const webgpu = await probeForTests();
const isSweep = process.env.SACCADE_SWEEP !== undefined;
const program = fileURLToPath(new URL('../bin/bench.js', import.meta.url));
const compiled = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
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
      load: {
        before: { busyShare: expect.any(Number) },
        after: { processors: expect.any(Number) },
      },
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

  it('measures what a learner elsewhere is sent: the same in fewer bytes than as JSON', (context) => {
    if (!isSweep) return context.skip('it takes most of a minute; `npm run sweep` runs it');
    const json = join(folder, 'client.json');
    const sizes = { trajectories: 4, group: 2, tokens: 300, 'prompt-tokens': 100, images: 2 };
    const small = { ...sizes, 'image-tokens': 20, 'image-bytes': 5000, rounds: 2 };
    const flags = Object.entries(small).flatMap(([name, value]) => [`--${name}`, `${value}`]);
    const forms = ['--forms', 'binary,json,plain'];
    const { status, stdout, stderr } = run('client', ...flags, ...forms, '--json', json);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^4 trajectories of 300 tokens in groups of 2, 2 images of 20 tokens/);
    const { results } = JSON.parse(readFileSync(json, 'utf8'));
    const [binary, plainJson, plain] = results;
    expect(results.map(({ form }: { form: string }) => form)).toEqual(['binary', 'json', 'plain']);
    // Two images of prompts and one more of each trajectory, once; in plain requests twice, in base64.
    expect(binary.sentBytes).toBeGreaterThan(6 * 5000);
    expect(binary.sentBytes).toBeLessThan(plainJson.sentBytes);
    expect(plain.sentBytes).toBeGreaterThan((2 * 8 * 5000 * 4) / 3);
    for (const { encoding, sending, total } of results) {
      expect(Math.min(encoding.p20, sending.p20)).toBeGreaterThan(0);
      expect(total.median).toBeGreaterThan(sending.median);
    }
    const memory = run('client', '--memory', '--steps', '24', '--image-bytes', '500');
    expect(memory.stdout, memory.stderr).toMatch(/JavaScript heap in use: (flat|grows|shrinks)/);
  });

  it('stops at SIGTERM with what it has measured, and with the status of a stopped process', async () => {
    const json = join(folder, 'stopped.json');
    const args = [program, '--dtype', 'f32', '--seconds', '0.1', '--threads', '1', '--json', json];
    const child = spawn(process.execPath, args, { env: environment });
    let [said, table] = ['', ''];
    child.stdout.on('data', (data) => {
      table += data;
    });
    child.stderr.on('data', (data) => {
      said += data;
      // The heading: the measurements begin. A second signal would end it without waiting.
      if (said.includes('; commit ') && !said.includes('SIGTERM')) child.kill('SIGTERM');
    });
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect(status, said).toBe(143);
    expect(said).toMatch(/^load before: \d/);
    // Which of the two depends on whether the first measurement had begun.
    if (table === '') expect(said).toContain('Stopped by SIGTERM before anything was measured.');
    else expect(JSON.parse(readFileSync(json, 'utf8')).stoppedBy).toBe('SIGTERM');
  }, 120_000);

  it('says what it knows, and which values it takes', () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [['tabel'], /^There is no command "tabel"\. Did you mean table\?$/m],
      [
        ['table', '--filter', 'nothing'],
        /No row of at most 4096 tokens matches "nothing"\. The rows are: /,
      ],
      [['table', '--rows', '8b'], /There are no rows "8b"\. Pass some of: headline, 3b, 7b/],
      [['table', '--peers', 'torhc'], /There is no peer "torhc"\. Pass some of: torch, /],
      [['--filter', 'nothing'], /No case matches.*The ops are: adamwStep/],
      [['--dtype', 'f8'], /Pass some of f32/],
      [['--backend', 'gpu'], /Pass native, webgpu or reference/],
      [['--isa', 'mmx'], /isa is "mmx", which this processor lacks/],
      [['--pass', 'sideways'], /Pass some of forward, backward, both/],
      [['client', '--forms', 'yaml'], /Pass some of binary, json, plain/],
      [['--baseline', join(folder, 'nowhere.json')], /no result of a benchmark/],
    ];
    // The one at which the process ends; one process for all others, most of each would be its start.
    const ended = run('--rounds', '0');
    expect(ended.stderr).toMatch(/whole number/);
    expect(ended.status).toBe(1);
    const code = `
      const { main } = await import(${JSON.stringify(pathToFileURL(compiled).href)});
      const ends = [];
      for (const args of ${JSON.stringify(wrong.map(([args]) => args))}) {
        let said = '';
        console.error = (text) => { said += text; };
        process.exitCode = 0;
        await main(args);
        ends.push({ status: process.exitCode, said });
      }
      process.exitCode = 0;
      console.log(JSON.stringify(ends));`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', code],
      { encoding: 'utf8', env: environment },
    );
    expect(status, stderr).toBe(0);
    const ends: readonly { status: number; said: string }[] = JSON.parse(stdout);
    for (const [index, [args, message]] of wrong.entries()) {
      expect(ends[index]?.said, args.join(' ')).toMatch(message);
      expect(ends[index]?.status, args.join(' ')).toBe(1);
    }
  });
});
