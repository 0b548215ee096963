/** The options of `saccade errors`. */
import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { ErrorsFlags } from '../errors.ts';
import { wholeNumber } from '../shared.ts';
import { addJudgeFlags } from './judge-options.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addErrors(program: LazyCommand): void {
  const examples = new Option(
    '--examples <kind>',
    'also print what was called and what the tool said',
  );
  const command = program
    .command('errors')
    .description('Count the errors of tool use, E1 to E6, by stage of training.')
    .argument('<runs...>', 'run directories, or evaluations of suites')
    .addOption(
      new Option('--from <source>', 'what is counted (default: metrics that have errors)').choices([
        'metrics',
        'trajectories',
      ]),
    )
    .option('--windows <n>', 'into how many windows the training steps are divided', windowed, 4)
    .addOption(examples)
    .option('--count <n>', 'examples of each run', wholeNumber, 3);
  addJudgeFlags(command, 'ask the model behind this chat API where no rule can tell')
    .addOption(jsonOption())
    .addLazyHelp(async () => (await import('../errors.ts')).errorsHelp())
    .before('--examples', async () => {
      const { errorColumns } = await import('@saccade/report');
      examples.choices(errorColumns);
    })
    .action(async (runs: readonly string[], flags: ErrorsFlags) =>
      (await import('../errors.ts')).countErrors(
        runs.map((run) => resolve(run)),
        flags,
      ),
    );
}

/** @throws InvalidArgumentError for what is no whole number from 1 */
function windowed(text: string): number {
  const value = wholeNumber(text);
  if (value > 0) return value;
  throw new InvalidArgumentError(`Expected a whole number of at least 1, got "${text}".`);
}
