/** `saccade completion`: what a shell needs to complete commands, options, recipes and units. */
import tab from '@bomb.sh/tab/commander';
import type { LazyCommand } from './lazy-command.ts';

/** Names that a command takes, loaded where it is completed. */
type Names = () => Promise<readonly string[]>;

const recipes: Names = async () => (await import('@saccade/train/recipes')).recipes.names;
const backends: Names = async () => (await import('@saccade/train/backends')).backends.names;

const completedArguments: Readonly<Record<string, Names>> = {
  train: recipes,
  compare: recipes,
  experiment: async () => (await import('@saccade/experiments')).experiments.names,
  'recipes show': recipes,
  'rewards show': async () => (await import('@saccade/rewards')).presets.names,
  'algorithms show': async () => (await import('@saccade/algorithms')).algorithms.names,
};

/** Commands whose `--backend` is completed. */
const withBackend: readonly string[] = ['train', 'eval'];

/** Adds `completion <shell>`, and completes the names that the command of these words takes. */
export async function addCompletion(program: LazyCommand, words: readonly string[]): Promise<void> {
  const { commands } = tab(program, { completionCommandName: 'completion' });
  const [first, ...typed] = words;
  if (first !== 'complete') return;
  const path = program.named(typed).slice(1);
  const name = path.map((command) => command.name()).join(' ');
  const command = commands.get(name);
  const names = await completedArguments[name]?.();
  for (const argument of command?.arguments.values() ?? []) {
    argument.handler = (complete) => {
      for (const one of names ?? []) complete(one, '');
    };
  }
  const backend = withBackend.includes(name) ? command?.options.get('backend') : undefined;
  if (backend === undefined || !typed.some((word) => word.startsWith('--backend'))) return;
  const known = await backends();
  backend.handler = (complete) => {
    for (const one of known) complete(one, '');
  };
}
