/** Runs a service until the process receives a signal, then drains it. */
import type { Service } from './open-service.ts';

/** How `runService` opens a service, and what it prints. */
export interface RunServiceOptions<Opened extends Service> {
  /** Opens the service; called once, after the signal handlers are installed. */
  readonly open: () => Promise<Opened>;
  /** The line to print once the service listens. From then on a signal drains it. */
  readonly announce: (service: Opened) => string;
  /** How long running calls may take after the signal. */
  readonly graceSeconds: number;
  /** Prints a line. Default `console.log`. */
  readonly print?: (line: string) => void;
}

/**
 * Opens a service, prints its announcement, and drains it on SIGINT or SIGTERM. The handlers are
 * installed before it opens. A second signal ends the process at once.
 *
 * @throws errors of `open` and `drain`
 */
export async function runService<Opened extends Service>(
  options: RunServiceOptions<Opened>,
): Promise<void> {
  const { open, announce, graceSeconds, print = console.log } = options;
  const signals = ['SIGINT', 'SIGTERM'] as const;
  let onStop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    onStop = () => {
      // Without handlers the next signal has its usual effect.
      for (const signal of signals) process.removeListener(signal, onStop);
      resolve();
    };
  });
  for (const signal of signals) process.on(signal, onStop);
  try {
    const service = await open();
    print(announce(service));
    await stopped;
    print('Finishing what runs; no new calls are taken.');
    await service.drain(graceSeconds);
  } finally {
    for (const signal of signals) process.removeListener(signal, onStop);
  }
}
