/**
 * The end of a service: running calls may finish, idle connections are closed, and it ends in time.
 */
import type { Server } from 'node:http';

export interface Drainable {
  /** Resolves when no request is in progress. */
  stopAccepting(): Promise<void>;
  abortCalls(): void;
}

export interface DrainOptions {
  readonly graceSeconds: number;
  readonly dispose: () => Promise<void>;
}

/** Time that handlers have at least to answer after their signal aborts. */
const LEAST_FAREWELL_MS = 1000;

/**
 * Waits for calls, then aborts their signals, then closes all connections. All of it fits into the
 * grace, unless a handler needs longer than a second to give up.
 */
export async function drainServer(
  server: Server,
  listener: Drainable,
  { graceSeconds, dispose }: DrainOptions,
): Promise<void> {
  const graceMs = graceSeconds * 1000;
  const farewellMs = Math.min(2000, graceMs / 3);
  const idle = listener.stopAccepting().then(() => true);
  if (!(await Promise.race([idle, after(graceMs - farewellMs)]))) {
    listener.abortCalls();
    await Promise.race([idle, after(Math.max(LEAST_FAREWELL_MS, farewellMs / 2))]);
  }
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  await dispose();
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    timer.unref();
  });
}
