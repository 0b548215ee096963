/** One connection for all that ask the same service in the same way within one run. */
import { canonicalJson } from '../canonical-json.ts';
import { ToolConnection, type ToolConnectionOptions } from './tool-connection.ts';

/** A connection, until it is released. */
export interface HeldConnection {
  readonly connection: ToolConnection;
  /** Closes the connection once nobody else holds it. Idempotent. */
  release(): Promise<void>;
}

interface Shared {
  readonly connection: ToolConnection;
  holders: number;
}

const runs = new WeakMap<object, Map<string, Shared>>();

/**
 * A connection with these options; the one that is open already for the same owner, so that calls of
 * tools that were opened apart go into one queue and one batch.
 *
 * @param owner whose connections are shared, e.g. the host of a run; none: a connection of its own
 * @throws ConfigError as `ToolConnection` does
 */
export function holdConnection(
  { url, token, timeoutSeconds, maxInFlight, maxBatch, maxWaitMs, retries }: ToolConnectionOptions,
  owner?: object,
): HeldConnection {
  const how = { timeoutSeconds, maxInFlight, maxBatch, maxWaitMs, retries };
  const given = Object.entries(how).filter(([, value]) => value !== undefined);
  const options: ToolConnectionOptions = {
    ...{ url, ...(token !== undefined && { token }) },
    ...Object.fromEntries(given),
  };
  const known = (owner !== undefined && runs.get(owner)) || new Map<string, Shared>();
  if (owner !== undefined) runs.set(owner, known);
  const key = canonicalJson(options);
  const shared = known.get(key) ?? { connection: new ToolConnection(options), holders: 0 };
  known.set(key, shared);
  shared.holders += 1;
  let isHeld = true;
  return {
    connection: shared.connection,
    async release() {
      if (!isHeld) return;
      isHeld = false;
      shared.holders -= 1;
      if (shared.holders > 0) return;
      known.delete(key);
      await shared.connection.dispose();
    },
  };
}
