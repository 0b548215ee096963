/** The program that runs on a GPU machine: all stages, or one of them. See bench/gpu/README.md. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, type DType, messageOf, SaccadeError } from '@saccade/core';
import { Command, Option } from 'commander';
import { parseCount, parseSeconds } from '../commands/shared.ts';
import { describeMachine } from '../machine.ts';
import { startTorch, type TorchProcess } from '../peers/torch.ts';
import { deviceChecks, failedCheck, hasWords, runDeviceChecks } from './device-checks.ts';
import { readDeviceFacts } from './device-facts.ts';
import { collectReports, drawReport, isAllWell, type StageKind } from './gpu-report.ts';
import { type GpuRow, gpuLayerRows, gpuRows, ROW_SIZES, type RowSize } from './gpu-rows.ts';
import { failedRow, measureRows } from './gpu-table.ts';
import { Ledger, type LedgerState, removeLedger } from './ledger.ts';
import { API_TYPES, findGpu, GPU_APIS, type GpuApi, openGpu, TABLE_TYPES } from './open-gpu.ts';
import { failedRepeat, repeatRows } from './repeats.ts';
import { describeRow } from './report-gpu.ts';
import { runStages, type StageOutcome } from './run-stages.ts';
import { planStages } from './stages.ts';

/** The options that all commands share, as commander parses them. */
interface GpuFlags {
  readonly out: string;
  readonly python: string;
  readonly seconds: number;
  readonly api: GpuApi;
  readonly emulated: boolean;
  readonly dryRun: boolean;
  readonly filter: string;
}

interface StageFlags extends GpuFlags {
  readonly resume: boolean;
  readonly part?: string;
}

/** @param args  after the program's name */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('run.sh').description(
    'Checks and times the CUDA and WebGPU kernels on this machine, beside PyTorch.',
  );
  addCommon(program.command('all', { isDefault: true }), 680)
    .description('every stage in processes of its own; writes report.txt, report.json, log.txt')
    .option('--doctor <file>', 'the bundled program of `saccade doctor`')
    .option('--commit <id>', 'what was packed', 'unknown')
    .action(runAll);
  addStage(program, 'checks', 150)
    .description('the contract of kernels, memory and queue, in one storage type')
    .option('--dtype <type>', 'f32, bf16, f16; not every API has each', 'f32')
    .option('--fuzz <count>', 'random cases of every op beside its fixed ones', Number, 10)
    .action(checkDevice);
  addStage(program, 'table', 220)
    .description('the rows of the table beside their peers')
    .option('--layers', 'those of layers of published models, groups of several sizes', false)
    .action(timeRows);
  addStage(program, 'repeats', 40)
    .description('the rows at a medium size, over and over: the same bits every time')
    .option('--times <count>', 'repeats', parseCount, 20)
    .addOption(new Option('--size <name>', 'of the rows').choices(ROW_SIZES).default('medium'))
    .action(repeat);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // A device that cannot be opened as asked, or a wrong option: the report shows what was said.
    if (!(error instanceof SaccadeError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

function addCommon(command: Command, seconds: number): Command {
  return command
    .option('--out <folder>', 'where results go', process.env.OUT ?? 'out')
    .option('--python <path>', 'an interpreter with torch', 'python3')
    .option('--seconds <s>', 'for all of it, about', parseSeconds, seconds)
    .option('--emulated', 'tiny shapes on the emulated library: to test this program', false)
    .option('--dry-run', 'go to where a device is needed and say what would be done', false)
    .option('--filter <words>', 'only checks and rows whose name holds all words', '');
}

function addStage(program: Command, name: string, seconds: number): Command {
  const resume = 'continue where a process of this stage ended in the middle';
  return addCommon(program.command(name), seconds)
    .addOption(new Option('--api <name>', 'how the GPU is used').choices(GPU_APIS).default('cuda'))
    .option('--part <name>', 'what the report calls it; default: the name of the command')
    .option('--resume', resume, false);
}

function openLedger<Entry>(
  { out, resume }: StageFlags,
  name: string,
  kind: StageKind,
  failed: (what: string, message: string) => Entry,
): Ledger<Entry> {
  mkdirSync(out, { recursive: true });
  const ledger = new Ledger({ folder: out, name, resume, failed });
  ledger.describe({ kind });
  return ledger;
}

/** Says what a stage would do, where there is no device or none is wanted; true if so. */
async function isDry(flags: StageFlags, name: string, would: readonly string[]): Promise<boolean> {
  const gpu = await findGpu(flags);
  if (gpu.isThere && !flags.dryRun) return false;
  const ledger = openLedger<string>(flags, name, 'would', (what) => what);
  const state = gpu.isThere ? `device: ${gpu.description}` : `no device: ${gpu.reason}`;
  for (const line of [state, ...would]) {
    console.log(line);
    ledger.add(line);
  }
  ledger.finish();
  // Without a device it was asked for results that there are none of.
  if (!flags.dryRun) process.exitCode = 1;
  return true;
}

interface CheckFlags extends StageFlags {
  readonly dtype: DType;
  readonly fuzz: number;
}

async function checkDevice(flags: CheckFlags): Promise<void> {
  const { dtype, fuzz, part = 'checks' } = flags;
  if (!API_TYPES[flags.api].includes(dtype)) {
    throw new ConfigError(
      'dtype',
      `--dtype is ${dtype}. Pass one of ${flags.api}: ${API_TYPES[flags.api].join(', ')}.`,
    );
  }
  const checks = deviceChecks({ ...flags, fuzzCount: fuzz });
  const would = `would run ${checks.length} checks in ${dtype}, ${fuzz} random cases of every op`;
  if (await isDry(flags, part, [would])) return;
  const ledger = openLedger(flags, part, 'checks', failedCheck);
  const open = () => openGpu(flags, true);
  const subject = { device: await open(), open };
  // On a device the float64 oracles take the time, some seconds; emulated threads take minutes.
  const limits = { seconds: flags.seconds, limitSeconds: flags.emulated ? 600 : 60 };
  await runDeviceChecks(checks, subject, ledger, limits, (latest) => {
    console.log(`${latest.outcome}: ${latest.name} (${latest.milliseconds} ms)`);
    if (latest.outcome === 'failed') console.log(latest.message);
  });
  subject.device.dispose();
  if (ledger.entries.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1;
}

const rowsOf = (
  { emulated, filter }: GpuFlags,
  size: RowSize,
  make: (size: RowSize) => readonly GpuRow[] = gpuRows,
): readonly GpuRow[] =>
  make(emulated ? 'tiny' : size).filter(({ title }) => hasWords(title, filter));

interface TableFlags extends StageFlags {
  readonly layers: boolean;
}

async function timeRows(flags: TableFlags): Promise<void> {
  const { python, emulated, api, layers, part = 'table' } = flags;
  // A stage of WebGPU is short, and its full rows are not.
  const size = api === 'cuda' ? 'full' : 'medium';
  const rows = rowsOf(flags, size, layers ? gpuLayerRows : gpuRows);
  /** The process of the peers, or why there is none: ours are timed anyway. */
  const openTorch = async (): Promise<TorchProcess | string> => {
    try {
      const device = emulated ? 'cpu' : 'cuda';
      return await startTorch(python, { threads: 1, device, limitSeconds: 90 });
    } catch (error) {
      return messageOf(error);
    }
  };
  if (flags.dryRun || !(await findGpu(flags)).isThere) {
    const torch = await openTorch();
    const found = typeof torch === 'string' ? `no torch: ${torch}` : JSON.stringify(torch.about);
    if (typeof torch !== 'string') await torch.close();
    const would = rows.map((row) => `would time ${describeRow(row)}`);
    if (await isDry(flags, part, [found, ...would])) return;
  }
  const ledger = openLedger(flags, part, 'table', failedRow);
  const device = await openGpu(flags);
  ledger.describe({ backend: device.backend.description, before: readDeviceFacts() });
  await measureRows(device, rows, ledger, {
    dtype: TABLE_TYPES[api],
    hasGoals: api === 'cuda',
    seconds: flags.seconds,
    passSeconds: emulated ? 0.01 : 5,
    rounds: emulated ? 5 : 30,
    openTorch,
    onStart: (what) => console.log(what),
    onEnd: () => ledger.describe({ after: readDeviceFacts() }),
  });
  device.dispose();
  if (ledger.entries.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}

interface RepeatFlags extends StageFlags {
  readonly times: number;
  readonly size: RowSize;
}

async function repeat(flags: RepeatFlags): Promise<void> {
  const rows = rowsOf(flags, flags.size);
  const would = rows.map(({ title }) => `would repeat ${title}, ${flags.times} times`);
  const { part = 'repeats', api, times } = flags;
  if (await isDry(flags, part, would)) return;
  const ledger = openLedger(flags, part, 'repeats', failedRepeat);
  const device = await openGpu(flags, true);
  const dtypes = API_TYPES[api].filter((dtype) => dtype === 'f32' || dtype === TABLE_TYPES[api]);
  await repeatRows(device, rows, ledger, { dtypes, times });
  device.dispose();
  if (ledger.entries.some(({ differences }) => differences.length > 0)) process.exitCode = 1;
}

interface AllFlags extends GpuFlags {
  readonly doctor?: string;
  readonly commit: string;
}

async function runAll(flags: AllFlags): Promise<void> {
  const out = resolve(flags.out);
  mkdirSync(out, { recursive: true });
  const log = join(out, 'log.txt');
  writeFileSync(log, '');
  const { stages, notes } = planStages({ ...flags, out });
  const head = {
    commit: flags.commit,
    date: new Date().toISOString(),
    machine: describeMachine(),
    device: readDeviceFacts(),
    versions: { node: process.versions.node },
    notes,
  };
  for (const { name } of stages.flatMap(({ commands }) => commands)) removeLedger(out, name);
  const taken = new Map<string, LedgerState<unknown>>();
  const report = (outcomes: readonly StageOutcome[]): string => {
    const reports = collectReports(outcomes, out, taken);
    const path = join(out, 'report.json');
    writeFileSync(path, `${JSON.stringify({ ...head, stages: reports }, null, 1)}\n`);
    const text = [...notes, '', drawReport(reports)].join('\n');
    writeFileSync(join(out, 'report.txt'), text);
    process.exitCode = isAllWell(reports) ? 0 : 1;
    return text;
  };
  const hear = (text: string): void => {
    process.stdout.write(text);
    appendFileSync(log, text);
  };
  const outcomes = await runStages(stages, flags.seconds, hear, report);
  console.log(`\n${'═'.repeat(72)}\n${report(outcomes)}\nResults: ${join(out, 'report.json')}`);
}
