/** The options of `saccade recipes`. */
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addRecipes(program: LazyCommand): void {
  const command = program.command('recipes').description('List the recipes, or show one’s fields.');
  command
    .command('list', { isDefault: true })
    .description('List the recipes.')
    .argument('[name]', 'shows this one')
    .addOption(jsonOption())
    .action(async (name: string | undefined, flags: { readonly json?: boolean }) =>
      name === undefined
        ? (await import('../recipes.ts')).listRecipes(flags)
        : (await import('../show-recipe.ts')).showRecipe(name, flags),
    );
  command
    .command('show')
    .description('Show every field of a recipe: value, unit, range, meaning.')
    .argument('<name>', 'a recipe’s name or file')
    .addOption(jsonOption())
    .action(async (name: string, flags: { readonly json?: boolean }) =>
      (await import('../show-recipe.ts')).showRecipe(name, flags),
    );
}
