/** Requests with the same `Idempotency-Key` run once; repetitions get the same answer. */
import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { callOf } from './call.ts';
import { Refusal } from './refusal.ts';
import { stashText } from './service-app.ts';

/** How many answers `idempotent` keeps, and for how long. */
export interface IdempotencyOptions {
  /** How long an answer is kept, in seconds. Default 600. */
  readonly keepSeconds?: number;
  /** Most kept answers; the oldest is dropped first. Default 1,000. */
  readonly maxAnswers?: number;
  /** Most bytes of all kept answers. Default 64 MiB. */
  readonly maxBytes?: number;
}

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

interface Entry {
  readonly fingerprint: string;
  readonly answer: Promise<Answer | undefined>;
  size: number;
  /** Performance time; Infinity while it runs. */
  keptUntil: number;
}

const LONGEST_KEY = 200;

/**
 * Middleware for routes that must not run twice for the same `Idempotency-Key`. Requests without
 * the header pass. A repetition that arrives while the first request runs waits for its answer.
 * Answers with status 5xx and 429 are not kept, so those requests run again. A known key with
 * another body is refused with 422.
 */
export function idempotent(options: IdempotencyOptions = {}): MiddlewareHandler {
  const { keepSeconds = 600, maxAnswers = 1000, maxBytes = 64 * 2 ** 20 } = options;
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const drop = (key: string, entry: Entry): void => {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    bytes -= entry.size;
  };
  const makeRoom = (): void => {
    for (const [key, entry] of entries) {
      const isOld = entry.keptUntil < performance.now();
      const isFull = entries.size > maxAnswers || bytes > maxBytes;
      if (isOld || (isFull && entry.keptUntil < Number.POSITIVE_INFINITY)) drop(key, entry);
    }
  };
  return async (context, next) => {
    const given = context.req.header('idempotency-key');
    if (given === undefined) return await next();
    if (given === '' || given.length > LONGEST_KEY) throw badKey();
    const fingerprint = createHash('sha256')
      .update(await stashText(context))
      .digest('hex');
    // Callers of different tokens never see each other's answers.
    const caller = context.req.header('authorization') ?? '';
    const key = JSON.stringify([caller, context.req.method, context.req.path, given]);
    for (let known = entries.get(key); known !== undefined; known = entries.get(key)) {
      if (known.keptUntil < performance.now()) {
        drop(key, known);
        break;
      }
      if (known.fingerprint !== fingerprint) throw otherBody();
      const answer = await known.answer;
      callOf(context).signal.throwIfAborted();
      if (answer !== undefined) return replay(answer);
      drop(key, known);
    }
    let settle: (answer: Answer | undefined) => void = () => {};
    const answer = new Promise<Answer | undefined>((resolve) => {
      settle = resolve;
    });
    const entry: Entry = { fingerprint, answer, size: 0, keptUntil: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    let kept: Answer | undefined;
    try {
      await next();
      const { status, headers } = context.res;
      if (status < 500 && status !== 429) {
        const body = new Uint8Array(await context.res.clone().arrayBuffer());
        kept = { status, headers: [...headers], body };
        entry.size = body.byteLength;
        entry.keptUntil = performance.now() + keepSeconds * 1000;
        bytes += entry.size;
      }
    } finally {
      settle(kept);
      if (kept === undefined) drop(key, entry);
      makeRoom();
    }
  };
}

function replay({ status, headers, body }: Answer): Response {
  const named = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  named.set('idempotency-replayed', 'true');
  return new Response(body.byteLength === 0 ? null : body, { status, headers: named });
}

function badKey(): Refusal {
  return new Refusal({
    status: 400,
    code: 'idempotency-key',
    fact: `An idempotency key has 1 to ${LONGEST_KEY} characters.`,
    remedy: 'Send a random one, e.g. a UUID.',
  });
}

function otherBody(): Refusal {
  return new Refusal({
    status: 422,
    code: 'idempotency-key',
    fact: 'This idempotency key was sent before with another body.',
    remedy: 'Send a new key with every new request.',
  });
}
