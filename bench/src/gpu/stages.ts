/** The stages of a GPU run, and the command of each. */
import { resolve } from 'node:path';
import { CHECKED_TYPES } from './device-checks.ts';
import { readLedger } from './ledger.ts';
import type { Stage, StageCommand } from './run-stages.ts';
import { findSanitizer, SANITIZER_TOOLS, sanitizerArgs } from './sanitizer.ts';

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

/**
 * The stages in the order of what they tell, and sentences about what is left out.
 *
 * Budgets add up to 550 seconds. The table runs alone on the machine; the checks, whose oracles are
 * plain TypeScript, have a process for each storage type.
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
      ...['--out', out, '--python', python, '--filter', filter],
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
      seconds: 150,
      commands: CHECKED_TYPES.map((dtype) =>
        run(`checks-${dtype}`, 'checks', '--dtype', dtype, '--fuzz', fuzz, '--seconds', '140'),
      ),
    },
    { seconds: 240, commands: [run('table', 'table', '--seconds', '215')] },
    {
      seconds: 40,
      commands: [run('repeats', 'repeats', '--times', emulated ? '2' : '20')],
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
    const few = ['--dtype', 'bf16', '--fuzz', '0', '--seconds', '40', '--part', tool];
    const small = run(tool, 'checks', ...few, '--filter', SANITIZED);
    const args = sanitizerArgs(tool, small.command, small.args);
    stages.push({ seconds: 45, commands: [{ ...small, command: sanitizer, args }] });
  }
  return { stages, notes };
}
