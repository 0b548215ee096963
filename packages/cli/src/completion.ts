/** `saccade completion`: what a shell needs to complete commands, options, recipes and units. */
import tab from '@bomb.sh/tab/commander';
import { algorithms } from '@saccade/algorithms';
import { experiments } from '@saccade/experiments';
import { presets } from '@saccade/rewards';
import { backends, recipes } from '@saccade/train';
import type { Command } from 'commander';

/** Adds `completion <shell>`, and completes the names that commands take. */
export function addCompletion(program: Command): void {
  const { commands } = tab(program, { completionCommandName: 'completion' });
  const names = (registry: { readonly names: readonly string[] }) => registry.names;
  const completed = [
    ['train', recipes],
    ['compare', recipes],
    ['experiment', experiments],
    ['recipes show', recipes],
    ['rewards show', presets],
    ['algorithms show', algorithms],
  ] as const;
  for (const [command, registry] of completed) {
    for (const argument of commands.get(command)?.arguments.values() ?? []) {
      argument.handler = (complete) => {
        for (const name of names(registry)) complete(name, '');
      };
    }
  }
  for (const command of ['train', 'eval']) {
    const backend = commands.get(command)?.options.get('backend');
    if (backend === undefined) continue;
    backend.handler = (complete) => {
      for (const name of names(backends)) complete(name, '');
    };
  }
}
