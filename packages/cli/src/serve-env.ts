/** `saccade serve env`: the environments of a recipe for other trainers. */
import { resolve } from 'node:path';
import { openEnvService, scoreWith } from '@saccade/env-service';
import {
  applySettings,
  inputOfRun,
  openPlayground,
  resolveRun,
  type Setting,
  scoringPartsOf,
} from '@saccade/train';
import { type Command, Option } from 'commander';
import { configOption, readConfigFile } from './config-file.ts';
import { addListenOptions, type ListenFlags, listen } from './listen.ts';
import { addSetting, findRecipe } from './recipe-arguments.ts';
import { openPython, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface ServeEnvFlags extends ListenFlags {
  readonly set: readonly Setting[];
  readonly config?: string;
  readonly split: 'train' | 'heldOut';
  readonly maxSessions: number;
  readonly idleSeconds: number;
}

export function addServeEnv(serve: Command): void {
  const command = serve
    .command('env')
    .description('Serve the environments of a recipe: OpenEnv’s protocol, and Gymnasium in Python.')
    .argument('<recipe>', 'a recipe’s name (see `saccade recipes`) or its file');
  addListenOptions(command, { port: 8740, tokenVariable: 'SACCADE_ENV_TOKEN' })
    .option('--set <field=value>', 'change a field of the recipe; may be repeated', addSetting, [])
    .addOption(configOption())
    .addOption(
      new Option('--split <name>', 'where tasks come from, unless a client says otherwise')
        .choices(['train', 'heldOut'])
        .default('train'),
    )
    .option('--max-sessions <n>', 'environments at a time', wholeNumber, 64)
    .option('--idle-seconds <n>', 'unused sessions are closed after', wholeNumber, 600)
    .addHelpText(
      'after',
      `
Tasks, protocol, tools and reward are those of the recipe; the seed of a reset chooses the task.

Endpoints:
  POST /reset, /step, /close; GET /state     OpenEnv over HTTP, a session id per environment
  WS   /ws                                   OpenEnv's clients, an environment per connection
  GET  /schema, /metadata, /health, /openapi.json, /metrics

Examples:
  saccade serve env smoke
  saccade serve env pyvision-image-nano --set reward=codedance --split heldOut
  pip install ./packages/env-service/python     then saccade_env.SaccadeEnv("http://…") in Python`,
    )
    .action((recipe: string, flags: ServeEnvFlags) => run(recipe, flags));
}

async function run(recipe: string, flags: ServeEnvFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const { input } = await findRecipe(recipe);
  const asked = resolveRun(applySettings(input, [...readConfigFile(flags.config), ...flags.set]));
  const { maxSessions, idleSeconds, split } = flags;
  const { rollout } = asked.config;
  // An environment keeps its session of the sandbox between steps: with fewer, all would wait.
  const concurrency = Math.max(rollout.concurrency, Math.ceil(maxSessions / 2));
  const resolved = resolveRun({ ...inputOfRun(asked), rollout: { ...rollout, concurrency } });
  // A reward that cannot be given to one trajectory is told before anything is opened.
  const scored = scoreWith(scoringPartsOf(resolved, resolve('.')));
  const { taskSet } = resolved.config;
  await listen(
    flags,
    async (listening) => {
      const playground = await openPlayground(resolved, {
        python: () => openPython(onEvent),
        onEvent,
      });
      try {
        return await openEnvService({
          ...{ ...listening, ...scored, maxSessions, idleSeconds, split },
          name: `${resolved.config.protocol.name} on ${taskSet.name}`,
          description: playground.taskSet.description,
          taskSet: playground.taskSet,
          makeEnv: playground.makeEnv,
          dispose: playground.dispose,
        });
      } catch (error) {
        await playground.dispose();
        throw error;
      }
    },
    ({ url }) => `Environments of ${recipe} at ${url}`,
  );
}
