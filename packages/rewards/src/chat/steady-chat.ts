/** A model with time-outs, retries and a bound on calls at a time. */
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import { ChatError } from './chat-error.ts';
import type { ChatModel } from './chat-model.ts';

/** Options of `steadyChat`. */
export interface SteadyOptions {
  /** Calls at a time; more wait their turn. Default 16. */
  readonly maxConcurrent?: number;
  /** Time of one try, from when it is sent. Default 60 s. */
  readonly timeoutMs?: number;
  /** Tries after the first. Default 3. */
  readonly retries?: number;
  /** First pause between tries; it doubles, with jitter, up to 30 s. Default 500 ms. */
  readonly firstPauseMs?: number;
}

/**
 * A model with a limit on concurrent calls, a time limit per try, and retries.
 *
 * Waiting for a free place does not count toward the time limit. Errors that will not change (a
 * wrong key, a request that is too large) are not retried.
 */
export function steadyChat(model: ChatModel, options: SteadyOptions = {}): ChatModel {
  const { maxConcurrent = 16, timeoutMs = 60_000, retries = 3, firstPauseMs = 500 } = options;
  const limit = pLimit(maxConcurrent);
  return {
    name: model.name,
    reply: (messages, chat) => {
      const once = async (): Promise<string> => {
        const timeout = AbortSignal.timeout(timeoutMs);
        const signal = chat.signal ? AbortSignal.any([timeout, chat.signal]) : timeout;
        try {
          return await Promise.race([
            model.reply(messages, { ...chat, signal }),
            rejectOn(timeout, model.name, timeoutMs),
          ]);
        } catch (error) {
          throw timeout.aborted ? timedOut(model.name, timeoutMs) : error;
        }
      };
      return limit(() =>
        pRetry(once, {
          retries,
          minTimeout: firstPauseMs,
          maxTimeout: 30_000,
          randomize: true,
          ...(chat.signal && { signal: chat.signal }),
          shouldRetry: ({ error }) => !(error instanceof ChatError) || error.isTransient,
          onFailedAttempt: async ({ error, retriesLeft }) => {
            if (!(error instanceof ChatError) || retriesLeft === 0) return;
            const pause = Math.min(error.retryAfterMs ?? 0, 30_000);
            if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
          },
        }),
      );
    },
  };
}

const timedOut = (name: string, timeoutMs: number): ChatError =>
  new ChatError(
    `${name} did not reply within ${timeoutMs} ms. Raise timeoutMs, or ask it less at a time.`,
    { isTransient: true },
  );

/** For models that do not listen to their signal. */
function rejectOn(signal: AbortSignal, name: string, timeoutMs: number): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(timedOut(name, timeoutMs)), { once: true });
  });
}
