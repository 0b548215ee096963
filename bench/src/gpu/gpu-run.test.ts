/** The files that go to a GPU machine, packed and run as there, up to where a device is needed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDevice, referenceBackend } from '@saccade/ops';
import type { CheckResult } from '@saccade/ops/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deviceChecks, failedCheck, runDeviceChecks } from './device-checks.ts';
import type { GpuRowResult } from './gpu-table.ts';
import { Ledger, readLedger } from './ledger.ts';
import { API_TYPES } from './open-gpu.ts';
import { runStages } from './run-stages.ts';
import { planStages } from './stages.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const limits = { seconds: 60, limitSeconds: 60 };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-gpu-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('packs, unpacks nothing that is not there, and says what it would do', () => {
  const packed = join(folder, 'packed');
  const pack = spawnSync(
    process.execPath,
    [join(root, 'bench/gpu/pack.mjs'), '--folder', packed, '--emulated'],
    { cwd: root, encoding: 'utf8' },
  );
  expect(pack.status, pack.stderr).toBe(0);
  const out = join(folder, 'out');
  const run = spawnSync(
    join(packed, 'bench/gpu/run.sh'),
    ['--dry-run', '--python', '/nowhere/python', '--out', out],
    // Elsewhere: nothing of the clone is found from here.
    { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH } },
  );
  expect(run.status, run.stdout + run.stderr).toBe(0);
  expect(readdirSync(out).sort()).toEqual(['log.txt', 'report.json', 'report.txt']);
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
  const names = report.stages.map(({ name }: { name: string }) => name);
  expect(names.slice(0, 15)).toEqual([
    'doctor',
    ...['checks-f32', 'checks-bf16', 'checks-f16'],
    ...['webgpu-checks-f32', 'webgpu-f16-checks-f16', 'webgpu-units-checks-f16'],
    ...['table', 'webgpu-table', 'webgpu-f16-table', 'webgpu-units-table'],
    ...['repeats', 'webgpu-repeats', 'webgpu-f16-repeats', 'webgpu-units-repeats'],
  ]);
  const text = readFileSync(join(out, 'report.txt'), 'utf8');
  expect(text).toMatch(/backend cuda/);
  expect(text).toMatch(/would run \d\d checks in bf16, 10 random cases of every op/);
  expect(text).toMatch(/no torch: \/nowhere\/python .*ENOENT/s);
  expect(text).toContain('would time GEMM 6500×11008×2048: forward');
  expect(text).toMatch(/would repeat decode/);
  expect(text).toMatch(/compute-sanitizer/);
  // Asked for results that cannot be had, it fails.
  const asked = spawnSync(
    process.execPath,
    [join(packed, 'bench/dist/gpu/saccade-gpu.mjs'), 'repeats', '--out', out],
    { cwd: folder, encoding: 'utf8', env: { SACCADE_ADDON: join(packed, 'native/saccade.node') } },
  );
  expect(asked.stdout).toMatch(/^no device: /);
  expect(asked.status).toBe(1);
  // What is packed also times, with nothing but itself.
  const timed = spawnSync(
    process.execPath,
    [
      join(packed, 'bench/dist/gpu/saccade-gpu.mjs'),
      ...['table', '--emulated', '--filter', 'GEMM', '--python', '/nowhere/python', '--out', out],
    ],
    { cwd: folder, encoding: 'utf8', env: { SACCADE_ADDON: join(packed, 'native/saccade.node') } },
  );
  expect(timed.status, timed.stdout + timed.stderr).toBe(0);
  const [row] = readLedger<GpuRowResult>(out, 'table')?.entries ?? [];
  expect(row?.failure).toBeUndefined();
  expect(row?.results[0]?.seconds.median).toBeGreaterThan(0);
});

it('says what is missing where nothing was packed', () => {
  const run = spawnSync(
    'bash',
    ['-c', 'mkdir -p a/b; cp "$0" a/b; a/b/run.sh', join(root, 'bench/gpu/run.sh')],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/saccade-gpu\.tar\.gz is not there\. Run node bench\/gpu\/pack\.mjs/);
});

it('has the checks of the contract once, and a process for each storage type', () => {
  const selection = { fuzzCount: 1, emulated: false };
  const all = API_TYPES.cuda.flatMap((dtype) => deviceChecks({ ...selection, dtype }));
  const names = all.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of [
    'gemm in f16 agrees with its float64 oracle',
    'linearLogprob in bf16 gives the same bits again',
    'attentionDecode in bf16 gives the bits of attention',
  ]) {
    expect(names).toContain(name);
  }
  expect(names.filter((name) => name.startsWith('queue: ')).length).toBeGreaterThan(3);
  const some = deviceChecks({ ...selection, dtype: 'f32', filter: 'GEMM oracle' });
  expect(some.map(({ name }) => name)).toEqual([
    'gemm in f32 agrees with its float64 oracle',
    'gemmQuantized in f32 agrees with its float64 oracle',
  ]);
});

it('writes every check down, leaves out what is known, and what there is no time for', async () => {
  const device = openDevice(referenceBackend());
  const subject = { device, open: () => openDevice(referenceBackend()) };
  const checks = deviceChecks({ dtype: 'f32', fuzzCount: 0, emulated: true, filter: 'add f32' });
  expect(checks.length).toBeGreaterThan(1);
  const ledgerOf = (name: string, resume: boolean): Ledger<CheckResult> =>
    new Ledger({ folder, name, resume, failed: failedCheck });
  const first = ledgerOf('checks', false);
  expect(await runDeviceChecks(checks.slice(0, 1), subject, first, limits)).toBe(true);
  const seen: string[] = [];
  const rest = ledgerOf('checks', true);
  await runDeviceChecks(checks, subject, rest, limits, ({ name }) => seen.push(name));
  expect(seen).toEqual(checks.slice(1).map(({ name }) => name));
  expect(rest.entries.map(({ outcome }) => outcome)).toEqual(checks.map(() => 'passed'));
  expect(readLedger(folder, 'checks')?.isDone).toBe(true);
  const late = ledgerOf('late', false);
  await runDeviceChecks(checks, subject, late, { ...limits, seconds: -1 });
  expect(late.entries).toEqual(
    checks.map(({ name }) => expect.objectContaining({ name, outcome: 'skipped' })),
  );
  device.dispose();
});

it('opens a lost device again in another process, and continues behind the check that lost it', async () => {
  const dist = (path: string): string =>
    JSON.stringify(new URL(`../../../${path}`, import.meta.url));
  // The emulated device 2 breaks at a launch, as a real one does at a wild access.
  const code = `
    import { cudaBackend } from ${dist('packages/backend-native/dist/index.js')};
    import { openDevice } from ${dist('packages/ops/dist/index.js')};
    import { deviceChecks, failedCheck, runDeviceChecks } from ${dist('bench/dist/gpu/device-checks.js')};
    import { Ledger } from ${dist('bench/dist/gpu/ledger.js')};
    const resume = process.argv.includes('--resume');
    const open = () => openDevice(cudaBackend({ emulated: true, device: resume ? 0 : 2 }));
    const subject = { device: open(), open };
    const checks = deviceChecks({ dtype: 'f32', fuzzCount: 0, emulated: true, filter: 'add f32' });
    const folder = ${JSON.stringify(folder)};
    const ledger = new Ledger({ folder, name: 'lost', resume, failed: failedCheck });
    console.log(await runDeviceChecks(checks, subject, ledger, { seconds: 60, limitSeconds: 60 }));
    subject.device.dispose();`;
  const progress = (): number | 'done' => {
    const state = readLedger(folder, 'lost');
    return state === undefined || state.isDone ? 'done' : state.entries.length;
  };
  const args = ['--input-type=module', '--eval', code];
  const again = { args: ['--', '--resume'], progress };
  const command = { name: 'lost', command: process.execPath, args, again };
  const [outcome] = await runStages([{ seconds: 60, commands: [command] }], 60);
  expect(outcome).toMatchObject({ starts: 2, status: 0, said: 'false\ntrue\n' });
  const entries = (readLedger(folder, 'lost')?.entries ?? []) as CheckResult[];
  const [first, ...others] = entries;
  expect(first).toMatchObject({
    outcome: 'failed',
    message: expect.stringMatching(/device was lost/),
  });
  expect(others.length).toBeGreaterThan(0);
  expect(others.map(({ outcome }) => outcome)).toEqual(others.map(() => 'passed'));
});

it('plans the sanitizer last, and no stage that cannot be afforded', () => {
  const options = { out: folder, python: 'python3', emulated: false, dryRun: false, filter: '' };
  const { stages, notes } = planStages({
    ...options,
    doctor: 'd.mjs',
    sanitizer: '/opt/sanitizer',
  });
  expect(notes).toEqual([]);
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  expect(total).toBeLessThanOrEqual(680);
  const last = stages.at(-1)?.commands[0];
  expect(last).toMatchObject({ name: 'racecheck', command: '/opt/sanitizer' });
  expect(last?.args.join(' ')).toMatch(/^--tool racecheck .* checks .*--part racecheck/);
});
