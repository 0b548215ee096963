/** `saccade recipes`: what can be trained, and every field that can be set. */
import type { Command } from 'commander';
import { listConfigFields } from '../config-fields.ts';
import { recipes } from '../registry.ts';
import { applySettings, validateConfig } from '../settings.ts';

export function addRecipes(program: Command): void {
  const command = program.command('recipes').description('List the recipes, or show one’s fields.');
  command
    .command('list', { isDefault: true })
    .description('List the recipes.')
    .action(() => {
      for (const [name, recipe] of recipes.entries()) {
        console.log(`${name}\n  ${recipe.description}\n  ${recipe.paper}`);
      }
      console.log('\nShow every field of one with: saccade recipes show <name>');
    });
  command
    .command('show')
    .description('Show every field of a recipe: value, unit, range, meaning.')
    .argument('<name>', 'a recipe')
    .action((name: string) => show(name));
}

function show(name: string): void {
  const recipe = recipes.get(name);
  const config = validateConfig(
    applySettings(recipe.config, [{ path: 'recipe', value: recipe.name }]),
  );
  console.log(`${recipe.name}: ${recipe.description}\n${recipe.paper}\n`);
  for (const field of listConfigFields()) {
    const value = field.path
      .split('.')
      .reduce<unknown>((part, word) => (part as Record<string, unknown>)[word], config);
    const mark = JSON.stringify(value) === JSON.stringify(field.preset) ? ' ' : '*';
    console.log(
      `${mark} ${field.path} = ${JSON.stringify(value)}  (${field.unit}; ${field.range})`,
    );
    console.log(`    ${field.about}`);
  }
  console.log('\n* differs from the default. Change a field with --set field=value.');
}
