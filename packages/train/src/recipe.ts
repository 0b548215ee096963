/** A recipe: which units a run is made of, and their settings. */
import type { RunInput } from './run-config.ts';

/**
 * A named configuration of a run: the units in its slots and the settings that differ from their
 * defaults. `resolveRun` checks it and fills in the rest.
 */
export interface Recipe {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** The system it follows, with its citation. */
  readonly paper?: string;
  readonly config: RunInput;
}

/**
 * A recipe of one's own. Any slot takes a unit's name, `{ name, ...settings }`, or a unit itself:
 *
 *     export const recipe = defineRecipe({
 *       name: 'my-agent',
 *       description: 'Learns my task.',
 *       config: { taskSet: myTasks, reward: use(myReward, { bonus: 0.2 }), rl: { steps: 20 } },
 *     });
 */
export function defineRecipe(recipe: Recipe): Recipe {
  return recipe;
}

/** The input of a run of a recipe, under its name. */
export function inputOf({ name, config }: Recipe): RunInput {
  return { ...config, recipe: name };
}
