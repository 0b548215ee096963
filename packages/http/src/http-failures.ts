/** What went wrong with a request, from its status, its body or the system's error. */
import { messageOf } from '@saccade/core';
import { HttpError, type HttpFault, type RefusalBody } from './http-error.ts';
import { type JsonLimits, parseJson } from './json.ts';

/** Codes of errors that occur before the server receives a byte of the request. */
const UNSENT: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** The fault of an answer's status that is no success. */
export function faultOf(status: number): HttpFault {
  if (status === 429 || status === 503) return 'overloaded';
  return status >= 500 ? 'failed' : 'refused';
}

/** The error of a request that got no whole answer. */
export function lost(url: string, error: unknown, hasAnswer: boolean): HttpError {
  const code = codeOf(error);
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const reason = messageOf(cause) || String(code);
  // `fetch` refuses ports of other protocols, such as 9, by itself.
  const isUnsent = UNSENT.includes(code) || reason === 'bad port';
  return !hasAnswer && isUnsent
    ? new HttpError(
        'unreachable',
        `${url} cannot be reached: ${reason}. Start the server or change the URL.`,
        { mayHaveRun: false, reason, cause: error },
      )
    : new HttpError('broken', `${url} broke off: ${reason}. The request may have been served.`, {
        mayHaveRun: true,
        reason,
        cause: error,
      });
}

/** The system's error code in a chain of causes. */
function codeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown';
}

/** The refusal in an answer of a service of this kit. */
export function refusalIn(text: string, limits: JsonLimits): RefusalBody | undefined {
  if (text.length > 65_536 || !text.startsWith('{')) return undefined;
  try {
    const answer = parseJson(text, limits) as { readonly error?: Partial<RefusalBody> | null };
    const { code, fact, remedy } = answer.error ?? {};
    const isOurs = [code, fact, remedy].every((part) => typeof part === 'string');
    return isOurs ? ({ code, fact, remedy } as RefusalBody) : undefined;
  } catch {
    return undefined;
  }
}
