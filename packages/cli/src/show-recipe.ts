/** `saccade recipes show`: every field of a recipe that can be set. */
import { resolveRun } from '@saccade/train';
import { recipes } from '@saccade/train/recipes';
import { printJson } from './json.ts';
import { findRecipe } from './recipe-arguments.ts';
import { say } from './say.ts';

/** Prints every field of the recipe of a name or file: value, unit, range, meaning. */
export async function showRecipe(
  name: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
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
