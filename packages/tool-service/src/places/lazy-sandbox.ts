/** A sandbox that is opened when the first tool needs it, since most never do. */
import type { Sandbox, SessionOptions } from '@saccade/sandbox';

export interface LazySandbox extends Pick<Sandbox, 'open'> {
  /** Closes it, if it was ever opened. */
  dispose(): Promise<void>;
}

/**
 * @param openSandbox is called once; again only where it failed
 */
export function lazySandbox(openSandbox: () => Promise<Sandbox>): LazySandbox {
  let opening: Promise<Sandbox> | undefined;
  const opened = (): Promise<Sandbox> => {
    opening ??= openSandbox().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    open: async (options?: SessionOptions) => await (await opened()).open(options),
    dispose: async () => {
      const sandbox = await opening?.catch(() => undefined);
      await sandbox?.dispose();
    },
  };
}
