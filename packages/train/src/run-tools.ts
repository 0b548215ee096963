/** The tools of a run by themselves, for services that offer them to others. */
import { imageTools, type OpenTools, openTools } from '@saccade/tools';
import type { OpenOptions } from './playground.ts';
import { chosenTools } from './protocol-of.ts';
import type { ResolvedRun } from './run-config.ts';
import { secret } from './secret.ts';

/**
 * Opens the tools that a run names; without any, those that do one thing to an image each.
 *
 * @throws as `openTools` does
 */
export async function openRunTools(
  run: ResolvedRun,
  { python, onEvent }: Pick<OpenOptions, 'python' | 'onEvent'>,
): Promise<OpenTools> {
  const chosen = chosenTools(run);
  if (chosen === undefined) return { tools: imageTools, dispose: async () => {} };
  return await openTools(chosen, { python, onEvent, secret });
}
