/** The options of `saccade serve env`. */
import { Option } from 'commander';
import type { ServeEnvFlags } from '../serve-env.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';
import { addSetting, configOption } from './options.ts';

export function addServeEnv(serve: LazyCommand): void {
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
    .action(async (recipe: string, flags: ServeEnvFlags) =>
      (await import('../serve-env.ts')).serveEnv(recipe, flags),
    );
}
