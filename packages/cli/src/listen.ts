/** How the services listen and end, by the flags that they share. */
import type { EventSink } from '@saccade/core';
import {
  type AccessOptions,
  expectAccess,
  type ListenOptions,
  runService,
  type Service,
} from '@saccade/http/service';
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
 * Says what is wrong with the flags before anything is loaded, which can take minutes.
 *
 * @throws ConfigError if a token is missing
 */
export function expectAccessFor(flags: ListenFlags): void {
  expectAccess(accessOf(flags));
}

function accessOf({ host, tokenVariable, allowHost, anyone = false }: ListenFlags): AccessOptions {
  const token = process.env[tokenVariable];
  return {
    ...{ host, allowedHosts: allowHost, allowsAnyone: anyone },
    ...(token !== undefined && { token }),
  };
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
  const { port, graceSeconds } = flags;
  expectAccessFor(flags);
  const options: ListenOptions = {
    ...accessOf(flags),
    port,
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
