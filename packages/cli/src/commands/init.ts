/** The options of `saccade init`. */
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addInit(program: LazyCommand): void {
  program
    .command('init')
    .description('Write a project of your own: task set, tool, reward, algorithm, recipe, test.')
    .argument('<directory>', 'a new or empty folder; its last part names the project')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade init my-agent
  cd my-agent && npm install && npm test
  npx saccade train ./my-recipe.ts              trains on the CPU in under a minute
  npx saccade recipes show ./my-recipe.ts       every setting, those of your units included`,
    )
    .action(async (directory: string, flags: { readonly json?: boolean }) =>
      (await import('../init.ts')).initProject(directory, flags),
    );
}
