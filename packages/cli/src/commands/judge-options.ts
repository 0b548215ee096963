/** The flags with which commands name a judging model behind a chat API. */
import type { LazyCommand } from './lazy-command.ts';

/** Adds `--judge`, `--judge-model` and `--judge-key-variable`. */
export function addJudgeFlags(command: LazyCommand, about: string): LazyCommand {
  return command
    .option('--judge <url>', about)
    .option('--judge-model <name>', 'the model as the server calls it')
    .option('--judge-key-variable <name>', 'environment variable with its API key');
}
