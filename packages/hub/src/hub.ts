/** A Hugging Face hub as a run reaches it, and the errors of its answers. */
import { ConfigError, DataError, type EventSink, MissingError, messageOf } from '@saccade/core';

/** How repositories are downloaded, and where they are kept. */
export interface Hub {
  /** The cache that all of Hugging Face's libraries share: `$HF_HOME/hub`. */
  readonly cacheDirectory: string;
  /** Base URL: `https://huggingface.co`. */
  readonly endpoint: string;
  /** Whether only what the cache has is used. */
  readonly isOffline: boolean;
  /** For private and gated repositories. */
  readonly token?: string;
  /** Pause before a broken download goes on; it doubles with every attempt. Default 1000. */
  readonly retryMilliseconds?: number;
  readonly onEvent?: EventSink;
}

/** A repository of a hub at a revision. */
export interface HubRepo {
  readonly name: string;
  /** A branch, a tag, or a commit. */
  readonly revision: string;
  /** Default: a model. */
  readonly type?: 'model' | 'dataset';
}

/** The word for a repository's kind, in messages. */
const nounOf = ({ type = 'model' }: Pick<HubRepo, 'type'>): string =>
  type === 'dataset' ? 'data set' : type;

/** The setting that names a repository, in messages. */
const fieldOf = ({ type = 'model' }: Pick<HubRepo, 'type'>): string =>
  type === 'dataset' ? 'taskSet.from' : 'model.from';

/** Codes of errors that mean the network, not the hub. */
const UNREACHABLE = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** True of an error after which the same request may succeed. */
export function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 || status === 429 || status === 408;
  return isUnreachable(error);
}

/** True if no answer came, or it broke off. */
function isUnreachable(error: unknown): boolean {
  if (typeof error === 'string') return error === 'terminated';
  if (!(error instanceof Error)) return false;
  // Whatever the reason: a certificate, a port that fetch refuses, a proxy.
  if (error instanceof TypeError && error.message === 'fetch failed') return true;
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  if (code !== undefined && UNREACHABLE.has(code)) return true;
  if (cause !== undefined) return isUnreachable(cause);
  return error instanceof AggregateError && error.errors.some(isUnreachable);
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

const remedyOffline = (noun: string): string =>
  `Connect, or download the ${noun} elsewhere and give its directory, or a copy of the cache with ` +
  'HF_HUB_OFFLINE=1. HF_ENDPOINT names another hub.';

/**
 * The error of a request to the hub, with the remedy. Errors of ours stay what they are.
 *
 * @param errorCode  the hub's own word for the error: its header X-Error-Code
 */
export function hubError(
  error: unknown,
  { endpoint, token }: Hub,
  repo: HubRepo,
  errorCode: string | undefined,
): unknown {
  const { name, revision } = repo;
  const noun = nounOf(repo);
  if (isUnreachable(error)) {
    return new MissingError(
      `The hub at ${endpoint} cannot be reached for ${name} (${causeOf(error)}). ${remedyOffline(noun)}`,
      { cause: error },
    );
  }
  const status = statusOf(error);
  if (status === undefined) return error;
  const field = fieldOf(repo);
  if (errorCode === 'RevisionNotFound') {
    return new ConfigError(
      field,
      `${field}: ${name} at ${endpoint} has no revision ${JSON.stringify(revision)}. ` +
        'Give one of its branches, tags or commits after the @.',
    );
  }
  if (errorCode === 'GatedRepo' || status === 403) {
    return new ConfigError(
      field,
      `${field}: ${name} at ${endpoint} is gated. Accept its terms on its page there, and set ` +
        'HF_TOKEN to a token of the account that did.',
    );
  }
  // The hub answers 401 for what is not there, so that nobody learns the names of private models.
  if (status === 401 || status === 404) {
    const remedy =
      token === undefined
        ? `Check the name; for a private ${noun} set HF_TOKEN.`
        : 'Check the name, and that HF_TOKEN may read it.';
    return new ConfigError(
      field,
      `${field}: there is no ${noun} ${name} at ${endpoint}. ${remedy}`,
    );
  }
  return new DataError(
    `The hub at ${endpoint} refused ${name} with status ${status}: ${messageOf(error)} Try again later.`,
    { cause: error },
  );
}

/** The innermost reason: `fetch failed` says nothing. */
function causeOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return cause === undefined ? messageOf(error) : causeOf(cause);
}
