/** The options of `saccade replay`. */
import { resolve } from 'node:path';
import type { ReplayFlags } from '../replay.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addReplay(program: LazyCommand): void {
  program
    .command('replay')
    .description('Roll kept trajectories out again and compare every token and log-prob.')
    .argument('<run>', 'a run directory, or a directory of its evaluations/')
    .option('--id <id>', 'the trajectory of this id')
    .option('--of <file>', 'of this file of trajectories/, without .jsonl')
    .option('--step <n>', 'of this step of reinforcement learning', wholeNumber)
    .option('--index <i>', 'number within its file, from 0', wholeNumber)
    .option('--all', 'all of them (default: the first of every file)')
    .option('--live', 'run the actions in the sandbox too, and compare what tools gave')
    .option('--rebuild', 'train weights again that the run did not keep')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade replay runs/mine                                the first trajectory of every file
  saccade replay runs/mine --step 20 --index 3 --rebuild
  saccade replay runs/mine --of evaluation-final --all --live

Tool results and images are those of the record; the tokens are sampled anew with the weights of
their version. Where no file or id is named, trajectories whose weights were not kept are left out.
Exit status 1 if anything came out differently.`,
    )
    .action(async (run: string, flags: ReplayFlags) =>
      (await import('../replay.ts')).replayKept(resolve(run), flags),
    );
}
