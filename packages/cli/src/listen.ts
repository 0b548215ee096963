/** How the services listen and end, by the flags that they share. */
import type { EventSink } from '@saccade/core';
import { type ListenOptions, runService, type Service } from '@saccade/http/service';
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
