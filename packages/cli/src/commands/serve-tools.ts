/** The options of `saccade serve tools`. */
import { InvalidArgumentError } from 'commander';
import type { ServeToolsFlags } from '../serve-tools.ts';
import { aboveZero, finiteNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';

export function addServeTools(serve: LazyCommand): void {
  const command = serve
    .command('tools')
    .description('Serve tools for remote runs, and for verl-tool.');
  addListenOptions(command, { port: 8720, tokenVariable: 'SACCADE_TOOLS_TOKEN' })
    .option(
      '--tools <names>',
      'names with commas between them, all in this process (default: the image tools)',
      names,
    )
    .option('--placement <file>', 'JSON or TypeScript that puts tools into processes, see below')
    .option('--timeout-seconds <n>', 'longest call, its wait included', aboveZero, 60)
    .option('--max-queued <n>', 'calls of a tool that may wait; more get status 429', whole, 1024)
    .option(
      '--cache-mib <n>',
      'remembered answers of deterministic tools, 0 for none',
      atLeast0,
      256,
    )
    .option('--max-mib <n>', 'largest request', whole, 64)
    .option('--max-megapixels <n>', 'largest image', aboveZero, 50)
    .option('--images <folder>', 'verl-tool requests may name image files in this folder')
    .addLazyHelp(async () => (await import('../serve-tools.ts')).serveToolsHelp())
    .action(async (flags: ServeToolsFlags) =>
      (await import('../serve-tools.ts')).serveTools(flags),
    );
}

function names(text: string): readonly string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.every((name) => name !== '')) return list;
  throw new InvalidArgumentError(`Expected names with commas between them, got "${text}".`);
}

function atLeast0(text: string): number {
  const value = finiteNumber(text);
  if (value >= 0) return value;
  throw new InvalidArgumentError(`Expected a number of at least 0, got "${text}".`);
}

function whole(text: string): number {
  const value = aboveZero(text);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError(`Expected a whole number above 0, got "${text}".`);
}
