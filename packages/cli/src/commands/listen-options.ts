/** Options that the services share: where to listen, who may ask, how to end. */
import { portNumber, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';

interface ListenDefaults {
  readonly port: number;
  readonly tokenVariable: string;
}

export function addListenOptions(command: LazyCommand, defaults: ListenDefaults): LazyCommand {
  return command
    .option(
      '--host <address>',
      'address to listen on; any but the loopback needs a token',
      '127.0.0.1',
    )
    .option('--port <n>', 'port to listen on, 0 for a free one', portNumber, defaults.port)
    .option(
      '--token-variable <name>',
      'environment variable that holds the bearer token',
      defaults.tokenVariable,
    )
    .option(
      '--allow-host <name...>',
      'more names by which clients may ask, e.g. of a proxy; without ports',
      [],
    )
    .option('--anyone', 'serve every client that reaches the address, without a token')
    .option('--grace-seconds <n>', 'how long running calls may finish at the end', wholeNumber, 30)
    .option('--json', 'say as JSON what is served, and where');
}
