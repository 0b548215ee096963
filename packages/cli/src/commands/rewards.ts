/** The options of `saccade rewards`. */
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addRewards(program: LazyCommand): void {
  const command = program
    .command('rewards')
    .description('List the reward presets, or show one’s terms.');
  command
    .command('list', { isDefault: true })
    .description('List the reward presets and all rewards.')
    .argument('[name]', 'shows this one')
    .addOption(jsonOption())
    .action(async (name: string | undefined, flags: { readonly json?: boolean }) =>
      (await import('../rewards.ts')).showRewards(name, flags),
    );
  command
    .command('show')
    .description('Show a preset: terms, scopes, weights, constants, and where each comes from.')
    .argument('<name>', 'a preset, e.g. codevision; codevision/code for its public code alone')
    .addOption(jsonOption())
    .action(async (name: string, flags: { readonly json?: boolean }) =>
      (await import('../rewards.ts')).showRewards(name, flags),
    );
}
