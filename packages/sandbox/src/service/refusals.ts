/** How the sandbox's errors are answered, and how refusals are worded for clients of all protocols. */
import { DataError, messageOf } from '@saccade/core';
import { Refusal, type RefusalWording } from '@saccade/http/service';
import { DrainingError, QueueFullError, SandboxError } from '../errors.ts';

/** `detail` is where clients of SandboxFusion and verl-tool look. */
export const sandboxWording: RefusalWording = ({ code, fact, remedy }) => ({
  error: { code, fact, remedy },
  detail: `${fact} ${remedy}`,
});

/** The refusal that an error of the sandbox is; undefined for faults. */
export function asRefusal(error: unknown): Refusal | undefined {
  const fact = messageOf(error);
  if (error instanceof QueueFullError) {
    const remedy = 'Try again later.';
    return new Refusal({ status: 429, code: error.code, fact, remedy, retryAfterSeconds: 1 });
  }
  if (error instanceof DrainingError) {
    const remedy = 'Ask another server, or try again later.';
    return new Refusal({ status: 503, code: error.code, fact, remedy, retryAfterSeconds: 5 });
  }
  if (error instanceof DataError) {
    const remedy = 'Send something else.';
    return new Refusal({ status: 400, code: error.code, fact, remedy });
  }
  if (error instanceof SandboxError) {
    const remedy = 'Open a new session and try again.';
    return new Refusal({ status: 500, code: error.code, fact, remedy });
  }
  return undefined;
}
