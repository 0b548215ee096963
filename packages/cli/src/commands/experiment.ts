/** The options of `saccade experiment`. */
import type { ExperimentFlags } from '../experiment.ts';
import { collect, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addExperiment(program: LazyCommand): void {
  program
    .command('experiment')
    .description('Train all runs of an experiment from one cold start; one page of curves.')
    .argument('[name]', 'which one; without it they are listed')
    .option('--out <directory>', 'runs, report.html and curves.svg (default: runs/<name>)')
    .option('--set <field=value>', 'change a field for all; may be repeated', collect<string>, [])
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps of each run', wholeNumber)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade experiment                                the list of experiments
  saccade experiment reward-shaping                 all of it
  saccade experiment reward-shaping --steps 10 --out runs/short

Called again, it continues where it stopped; the page is written after every run.`,
    )
    .action(async (name: string | undefined, flags: ExperimentFlags) => {
      const { listExperiments, trainExperiment } = await import('../experiment.ts');
      if (name === undefined) listExperiments(flags);
      else await trainExperiment(name, flags);
    });
}
