/** The options of `saccade serve sandbox`. */
import { availableParallelism } from 'node:os';
import { defaultLimits, localTiers } from '@saccade/sandbox/defaults';
import { InvalidArgumentError, Option } from 'commander';
import type { ServeSandboxFlags } from '../serve-sandbox.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';

const processors = availableParallelism();
const mebibyte = 2 ** 20;

export function addServeSandbox(serving: LazyCommand): void {
  const command = serving
    .command('sandbox')
    .description('Run Python for remote runs, SandboxFusion clients and verl-tool.');
  addListenOptions(command, { port: 8710, tokenVariable: 'SACCADE_SANDBOX_TOKEN' })
    .addOption(
      new Option('--isolation <tier>', 'how code is isolated')
        .choices(['auto', ...localTiers])
        .default('auto'),
    )
    .option(
      '--unsafe',
      'allow plain processes where nothing isolates: code has your files and network',
    )
    .option('--wall-seconds <n>', 'longest execution', aboveZero, defaultLimits.wallSeconds)
    .option(
      '--memory-mib <n>',
      'memory of each process of a session',
      aboveZero,
      defaultLimits.memoryBytes / mebibyte,
    )
    .option(
      '--session-memory-mib <n>',
      'memory of a session as a whole, its files included, where control groups limit it ' +
        '(default: that of a process and of the files)',
      aboveZero,
    )
    .option('--output-kib <n>', 'kept of each output stream', aboveZero, 64)
    .option('--max-sessions <n>', 'sessions at a time', aboveZero, 256)
    .option('--max-running <n>', 'executions at a time', aboveZero, 2 * processors)
    .option('--max-queued <n>', 'calls that may wait; more get status 429', aboveZero, 16_384)
    .option('--servers <n>', 'fork servers that open sessions', aboveZero, Math.min(4, processors))
    .option('--idle-seconds <n>', 'unused sessions are closed after', aboveZero, 600)
    .option('--max-mib <n>', 'largest request', aboveZero, 128)
    .addHelpText(
      'after',
      `
Endpoints:
  POST   /v1/sessions, /v1/sessions/:id/execute   sessions, for sandbox.hosts of a run
  DELETE /v1/sessions/:id
  POST   /run_code, /run_jupyter                  SandboxFusion's
  POST   /get_observation                         verl-tool's
  GET    /health, /metrics                        state and tier; Prometheus

Examples:
  saccade serve sandbox
  SACCADE_SANDBOX_TOKEN=$(openssl rand -hex 32) saccade serve sandbox --host 0.0.0.0
  saccade train --set sandbox=remote --set sandbox.hosts=http://10.0.0.5:8710

Ctrl-C or SIGTERM lets running code finish; a second one stops at once.`,
    )
    .action(async (flags: ServeSandboxFlags) =>
      (await import('../serve-sandbox.ts')).serveSandbox(flags),
    );
}

function aboveZero(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`Expected a whole number above 0, got "${text}".`);
}
