/** The stages of a GPU run, and the command of each. */
import { resolve } from 'node:path';
import { readLedger } from './ledger.ts';
import { API_TYPES, GPU_APIS, type GpuApi } from './open-gpu.ts';
import type { Stage, StageCommand } from './run-stages.ts';
import { findSanitizer, SANITIZER_TOOLS, type SanitizerTool, sanitizerArgs } from './sanitizer.ts';

export interface PlanOptions {
  readonly out: string;
  readonly python: string;
  readonly emulated: boolean;
  readonly dryRun: boolean;
  readonly filter: string;
  readonly doctor?: string;
  /** Default: found on this machine. */
  readonly sanitizer?: string;
}

/** The small checks that run under the sanitizer: every kernel once, in the op's own cases. */
const SANITIZED = 'agrees with its float64 oracle';

/** Seconds of each API's table. */
const TABLES: readonly (readonly [GpuApi, number])[] = [
  ['cuda', 190],
  ['webgpu', 25],
  ['webgpu-f16', 25],
  ['webgpu-units', 25],
];

/** For the layers of published models, on CUDA. */
const LAYER_SECONDS = 120;

/** Races are looked for among all accesses of shared memory, which takes an H100 a minute. */
const SANITIZER_SECONDS: Readonly<Record<SanitizerTool, number>> = { memcheck: 20, racecheck: 85 };

/** A stage's name: those of CUDA, which were first, have none before it. */
const named = (api: GpuApi, name: string): string => (api === 'cuda' ? name : `${api}-${name}`);

const of = (api: GpuApi): readonly string[] => ['--api', api];

/**
 * The stages in the order of what they tell, and sentences about what is left out.
 *
 * Budgets add up to 680 seconds; most stages end before. The tables run alone on the machine; the checks, whose oracles are
 * plain TypeScript, have a process for each API and storage type.
 */
export function planStages(options: PlanOptions): { stages: readonly Stage[]; notes: string[] } {
  const { out, python, emulated, dryRun, filter, doctor } = options;
  const program = resolve(process.argv[1] ?? '');
  const run = (name: string, command: string, ...more: string[]): StageCommand => ({
    name,
    command: process.execPath,
    args: [
      program,
      command,
      ...['--part', name, '--out', out, '--python', python, '--filter', filter],
      ...(emulated ? ['--emulated'] : []),
      ...(dryRun ? ['--dry-run'] : []),
      ...more,
    ],
    // A device that is lost can be opened by a new process alone.
    again: {
      args: ['--resume'],
      progress() {
        const state = readLedger(out, name);
        return state === undefined || state.isDone ? 'done' : state.entries.length;
      },
    },
  });
  const fuzz = emulated ? '0' : '10';
  const notes: string[] = [];
  const stages: Stage[] = [];
  if (doctor !== undefined) {
    // No network: what the sandbox's Python lacks is said at once, not after every retry.
    const environment = { PIP_NO_INDEX: '1', PIP_RETRIES: '0' };
    const args = [resolve(doctor), 'doctor'];
    stages.push({
      seconds: 30,
      commands: [{ name: 'doctor', command: process.execPath, args, environment }],
    });
  }
  stages.push(
    {
      seconds: 110,
      commands: GPU_APIS.flatMap((api) =>
        API_TYPES[api].map((dtype) => {
          const cases = ['--fuzz', fuzz, '--seconds', '100'];
          return run(
            named(api, `checks-${dtype}`),
            'checks',
            '--dtype',
            dtype,
            ...of(api),
            ...cases,
          );
        }),
      ),
    },
    ...TABLES.map(([api, seconds]) => ({
      seconds,
      commands: [run(named(api, 'table'), 'table', ...of(api), '--seconds', `${seconds - 15}`)],
    })),
    {
      seconds: 40,
      commands: GPU_APIS.map((api) =>
        run(named(api, 'repeats'), 'repeats', ...of(api), '--times', emulated ? '2' : '20'),
      ),
    },
    {
      seconds: LAYER_SECONDS,
      commands: [run('layers', 'table', '--layers', '--seconds', `${LAYER_SECONDS - 15}`)],
    },
  );
  const sanitizer = options.sanitizer ?? findSanitizer();
  if (sanitizer === undefined) {
    notes.push('compute-sanitizer is not on this machine: memcheck and racecheck are not run.');
    return { stages, notes };
  }
  if (emulated || dryRun) {
    notes.push(`${sanitizer}: would run ${SANITIZER_TOOLS.join(' and ')} on "${SANITIZED}".`);
    return { stages, notes };
  }
  for (const tool of SANITIZER_TOOLS) {
    const seconds = SANITIZER_SECONDS[tool];
    const few = ['--dtype', 'bf16', '--fuzz', '0', '--seconds', `${seconds - 5}`];
    const small = run(tool, 'checks', ...few, '--filter', SANITIZED);
    const args = sanitizerArgs(tool, small.command, small.args);
    stages.push({ seconds, commands: [{ ...small, command: sanitizer, args }] });
  }
  return { stages, notes };
}
