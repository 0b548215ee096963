/** `saccade recipes`: what can be trained, and every field that can be set. */

import { recipes, resolveRun } from '@saccade/train';
import type { Command } from 'commander';
import { jsonOption, printJson } from './json.ts';
import { findRecipe } from './recipe-arguments.ts';
import { say } from './say.ts';

export function addRecipes(program: Command): void {
  const command = program.command('recipes').description('List the recipes, or show one’s fields.');
  command
    .command('list', { isDefault: true })
    .description('List the recipes.')
    .argument('[name]', 'shows this one')
    .addOption(jsonOption())
    .action((name: string | undefined, flags: { readonly json?: boolean }) => {
      if (name !== undefined) return show(name, flags);
      const { json } = flags;
      if (json) {
        const all = recipes.entries().map(([name, { description, paper }]) => {
          return { name, description, paper };
        });
        return printJson(all);
      }
      for (const [name, recipe] of recipes.entries()) {
        say(
          `${name}\n  ${recipe.description}${recipe.paper === undefined ? '' : `\n  ${recipe.paper}`}`,
        );
      }
      say('\nShow every field of one with: saccade recipes show <name>');
    });
  command
    .command('show')
    .description('Show every field of a recipe: value, unit, range, meaning.')
    .argument('<name>', 'a recipe’s name or file')
    .addOption(jsonOption())
    .action((name: string, flags: { readonly json?: boolean }) => show(name, flags));
}

async function show(name: string, { json }: { readonly json?: boolean }): Promise<void> {
  const { input } = await findRecipe(name);
  const { config, fields } = resolveRun(input);
  if (json) {
    return printJson(fields.map((field) => ({ ...field, value: valueAt(config, field.path) })));
  }
  if (recipes.has(name)) {
    const { description, paper } = recipes.get(name);
    say(`${name}: ${description}${paper === undefined ? '' : `\n${paper}`}\n`);
  }
  for (const field of fields) {
    const value = valueAt(config, field.path);
    const mark = JSON.stringify(value) === JSON.stringify(field.default) ? ' ' : '*';
    say(`${mark} ${field.path} = ${JSON.stringify(value)}  (${field.unit}; ${field.range})`);
    say(`    ${field.about}`);
  }
  say('\n* differs from the default. Change a field with --set field=value.');
}

function valueAt(config: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, word) => {
    // Elements of lists go by their names.
    if (Array.isArray(part)) return part.find(({ name }) => name === word);
    return (part as Record<string, unknown> | undefined)?.[word];
  }, config);
}
