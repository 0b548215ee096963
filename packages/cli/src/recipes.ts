/** `saccade recipes`: what can be trained. */
import { recipes } from '@saccade/train/recipes';
import { printJson } from './json.ts';
import { say } from './say.ts';

export function listRecipes({ json }: { readonly json?: boolean }): void {
  if (json) {
    const all = recipes.entries().map(([name, { description, paper }]) => {
      return { name, description, paper };
    });
    printJson(all);
    return;
  }
  for (const [name, recipe] of recipes.entries()) {
    say(
      `${name}\n  ${recipe.description}${recipe.paper === undefined ? '' : `\n  ${recipe.paper}`}`,
    );
  }
  say('\nShow every field of one with: saccade recipes show <name>');
}
