/** The options of `saccade algorithms`. */
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addAlgorithms(program: LazyCommand): void {
  const command = program
    .command('algorithms')
    .description('List the algorithms, or show one’s settings.');
  command
    .command('list', { isDefault: true })
    .description('List the algorithms.')
    .argument('[name]', 'shows this one')
    .addOption(jsonOption())
    .action(async (name: string | undefined, flags: { readonly json?: boolean }) =>
      (await import('../algorithms.ts')).showAlgorithms(name, flags),
    );
  command
    .command('show')
    .description('Show an algorithm: settings, defaults, and the profiles of other trainers.')
    .argument('<name>', 'an algorithm, e.g. dapo')
    .addOption(jsonOption())
    .action(async (name: string, flags: { readonly json?: boolean }) =>
      (await import('../algorithms.ts')).showAlgorithms(name, flags),
    );
}
