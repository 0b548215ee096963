/** `--backend` of commands that open one, with the known ones in their help. */
import { Option } from 'commander';
import type { LazyCommand } from './lazy-command.ts';

/** Adds `--backend`. */
export function addBackendOption(command: LazyCommand, purpose = ''): LazyCommand {
  const option = new Option('--backend <name>').default('native');
  return command.addOption(option).before('help', async () => {
    const { backends } = await import('@saccade/train/backends');
    option.description = `${purpose}one of ${backends.names.join(', ')}`;
  });
}
