/** Command-line parts that the services share: where to listen, who may ask, how to end. */
import type { EventSink } from '@saccade/core';
import { type ListenOptions, runService, type Service } from '@saccade/http/service';
import type { Command } from 'commander';
import { portNumber, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ListenFlags {
  readonly host: string;
  readonly port: number;
  readonly tokenVariable: string;
  readonly allowHost: readonly string[];
  readonly anyone?: boolean;
  readonly graceSeconds: number;
  readonly json?: boolean;
}

export interface ListenDefaults {
  readonly port: number;
  readonly tokenVariable: string;
}

export function addListenOptions(command: Command, defaults: ListenDefaults): Command {
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

/**
 * Opens a service and serves until SIGINT or SIGTERM; a second signal ends the process at once.
 *
 * @param announce what is printed once it listens
 * @throws ConfigError if the port is taken, or a token is missing
 */
export async function listen<Opened extends Service>(
  flags: ListenFlags,
  open: (options: ListenOptions) => Promise<Opened>,
  announce: (service: Opened) => string,
): Promise<void> {
  const { host, port, tokenVariable, allowHost, anyone = false, graceSeconds } = flags;
  const token = process.env[tokenVariable];
  const options: ListenOptions = {
    ...{ host, port, allowedHosts: allowHost, allowsAnyone: anyone },
    ...(token !== undefined && { token }),
    onEvent: printViolations(terminalProgress({ stream: process.stderr })),
  };
  const said = flags.json
    ? (service: Opened) => JSON.stringify({ url: service.url, serves: announce(service) })
    : announce;
  await runService({ open: () => open(options), announce: said, graceSeconds });
}

/** One line of JSON for each, so that nothing a client sent can pass for a line of ours. */
function printViolations(others: EventSink): EventSink {
  return (event) => {
    if (event.kind !== 'violation') return others(event);
    const { kind: _, ...violation } = event;
    console.error(`violation ${JSON.stringify(violation)}`);
  };
}
