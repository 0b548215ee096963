/** Errors of environments as refusals, worded for clients of FastAPI services too. */
import { messageOf } from '@saccade/core';
import { Refusal, type RefusalWording } from '@saccade/http/service';
import { RewardError } from '@saccade/rewards';
import { SandboxError } from '@saccade/sandbox';
import { ToolError } from '@saccade/tools';
import { ActionError, EpisodeError } from './episode.ts';

/** `detail` is where clients of OpenEnv servers look. */
export const envWording: RefusalWording = ({ code, fact, remedy }) => ({
  error: { code, fact, remedy },
  detail: `${fact} ${remedy}`,
});

/** The refusal that an error of an environment is; undefined for faults of the service. */
export function asRefusal(error: unknown): Refusal | undefined {
  const fact = messageOf(error);
  if (error instanceof EpisodeError) {
    return new Refusal({
      status: 409,
      code: 'episode',
      fact,
      remedy: 'Call /reset, or wait for the answer.',
    });
  }
  if (error instanceof ActionError) {
    return new Refusal({ status: 422, code: 'action', fact, remedy: 'See GET /schema.' });
  }
  const isOurs =
    error instanceof SandboxError || error instanceof ToolError || error instanceof RewardError;
  if (!isOurs) return undefined;
  const remedy = 'This is no fault of the model: reset, and do not score the episode.';
  return new Refusal({ status: 500, code: error.code, fact, remedy });
}

export function unknownSession(): Refusal {
  return new Refusal({
    ...{
      status: 404,
      code: 'unknown-session',
      fact: 'There is no session of that id, or no longer.',
    },
    remedy: 'Call /reset without an id to begin one.',
  });
}

export function noRoom(maxSessions: number): Refusal {
  return new Refusal({
    ...{ status: 503, code: 'sessions', fact: `All ${maxSessions} sessions are taken.` },
    ...{ remedy: 'Close one, or come again.', retryAfterSeconds: 5 },
  });
}
