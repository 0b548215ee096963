/** The options of `saccade rescore`. */
import { resolve } from 'node:path';
import type { RescoreFlags } from '../rescore.ts';
import { more } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addRescore(program: LazyCommand): void {
  program
    .command('rescore')
    .description('Score the trajectories that a run keeps with another reward, without rollouts.')
    .argument('<run>', 'a run directory that keeps trajectories')
    .option('--reward <preset>', 'a reward preset; see `saccade rewards` (required)')
    .option('--set <term=weight>', 'another weight, or term.constant=value; may be repeated', more)
    .option('--of <file>', 'a file of <run>/trajectories without .jsonl, may be repeated', more)
    .option('--verifier <name>', 'judge answers again (default: the stored verdicts stand)')
    .option('--out <file>', 'JSON Lines, one a trajectory (default: <run>/rescored/<preset>.jsonl)')
    .addOption(jsonOption())
    .addLazyHelp(async () => (await import('../rescore.ts')).rescoreHelp())
    .action(async (run: string, flags: RescoreFlags) =>
      (await import('../rescore.ts')).rescoreRun(resolve(run), flags),
    );
}
