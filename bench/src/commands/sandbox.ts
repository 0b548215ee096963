/** `npm run bench -- sandbox`: sessions and turns of the Python sandbox. */
import { type Command, InvalidArgumentError } from 'commander';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { runMeasurement } from '../run-measurement.ts';
import { type Latency, measureSandbox, type SandboxBench } from '../sandbox.ts';
import { type Column, drawTable } from '../table.ts';
import { formatSeconds, threeDigits } from '../units.ts';
import { addResultOptions, parseCount, type ResultFlags } from './shared.ts';

interface SandboxFlags extends ResultFlags {
  readonly sessions: readonly number[];
  readonly turns: number;
}

const DEFAULT_SESSIONS = [1, 8, 32];

export function addSandbox(program: Command, args: readonly string[]): void {
  const command = program
    .command('sandbox')
    .description('The Python sandbox: starting a session, a turn, a turn with an image.')
    .option('--sessions <counts>', 'sessions at once, comma between', parseCounts, DEFAULT_SESSIONS)
    .option('--turns <count>', 'turns of each kind in each session', parseCount, 30);
  addResultOptions(command).action(async (flags: SandboxFlags) => {
    const record = provenance(args);
    await runMeasurement<SandboxBench>(flags, {
      kind: 'sandbox',
      measure: (signal, keep) => measureSandbox({ ...flags, onStart: showProgress, signal, keep }),
      show,
      record: (result) => ({ ...record, ...result }),
    });
  });
}

function show({ tier, results }: SandboxBench): void {
  console.log(`isolation: ${tier}`);
  const rows = results.map((result) => [
    `${result.sessions}`,
    ...[result.start, result.turn, result.imageTurn].flatMap(cellsOf),
    threeDigits(result.executionsPerSecond),
  ]);
  console.log(drawTable(COLUMNS, rows));
}

const right = (title: string): Column => ({ title, align: 'right' });
const COLUMNS: readonly Column[] = [
  right('sessions'),
  right('start p50'),
  right('p95'),
  right('turn p50'),
  right('p95'),
  right('image turn p50'),
  right('p95'),
  right('executions/s'),
];

const cellsOf = ({ p50, p95 }: Latency): string[] => [formatSeconds(p50), formatSeconds(p95)];

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  if (counts.every((count) => Number.isInteger(count) && count >= 1)) return counts;
  throw new InvalidArgumentError('Pass whole numbers with commas between: 1,8,32.');
}
