/** A sandbox that is opened when the first tool needs it, since most never do. */
import type { Sandbox, SessionOptions } from '@saccade/sandbox';

/** A sandbox that may not be open yet. */
export interface LazySandbox<Some extends Sandbox = Sandbox> extends Pick<Sandbox, 'open'> {
  /** The sandbox itself, opened on the first call. */
  opened(): Promise<Some>;
  /** Closes it, if it was ever opened. */
  dispose(): Promise<void>;
}

/**
 * @param openSandbox is called once; again only where it failed
 */
export function lazySandbox<Some extends Sandbox>(
  openSandbox: () => Promise<Some>,
): LazySandbox<Some> {
  let opening: Promise<Some> | undefined;
  const opened = (): Promise<Some> => {
    opening ??= openSandbox().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    opened,
    open: async (options?: SessionOptions) => await (await opened()).open(options),
    dispose: async () => {
      const sandbox = await opening?.catch(() => undefined);
      await sandbox?.dispose();
    },
  };
}
