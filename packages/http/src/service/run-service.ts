/** Runs a service until the process is told to stop, and drains it then. */
import type { Service } from './open-service.ts';

export interface RunServiceOptions<Opened extends Service> {
  readonly open: () => Promise<Opened>;
  /** What is printed once it listens; whoever reads it may send a signal at once. */
  readonly announce: (service: Opened) => string;
  /** How long running calls may take at the end. */
  readonly graceSeconds: number;
  readonly print?: (line: string) => void;
}

/**
 * Opens the service, prints its address, and drains it at SIGINT or SIGTERM. The handlers are there
 * before it opens. A second signal ends the process at once.
 *
 * @throws what `open` and `drain` throw
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
