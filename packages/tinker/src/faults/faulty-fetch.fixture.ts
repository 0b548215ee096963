/** A network and a server that fail on purpose: which request fails how, by a seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomAt } from '@saccade/core';

/** Ways to fail. Those that end with `kill` also take what the server holds in memory. */
export const faultKinds = [
  'drop-request',
  'drop-answer',
  'duplicate',
  'refuse-429',
  'refuse-503',
  'fail-500',
  'slow',
  'cut-answer',
  'kill',
  'answer-kill',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** How often requests fail, and how. */
export interface FaultPlan {
  readonly seed: number;
  /** Share of requests that fail. */
  readonly rate: number;
  readonly kinds: readonly FaultKind[];
  /** Most faults; then all goes well. Default: any. */
  readonly most?: number;
}

/** A fetch that fails, and what it did. */
export interface FaultyFetch {
  readonly fetch: typeof fetch;
  /** Faults by kind. */
  readonly injected: Readonly<Record<string, number>>;
}

/**
 * Lets requests fail as planned.
 *
 * @param restart stops the server and starts another with what is on its disk
 */
export function faultyFetch(
  inner: typeof fetch,
  { seed, rate, kinds, most = Number.POSITIVE_INFINITY }: FaultPlan,
  restart: () => Promise<void>,
): FaultyFetch {
  const injected: Record<string, number> = {};
  let count = 0;
  let faults = 0;
  const failing: typeof fetch = async (input, init) => {
    const random = randomAt(seed, 'faults', String(count++));
    const isDue = random.uniform() < rate && faults < most;
    if (!isDue) return await inner(input, init);
    faults++;
    const kind = random.pick(kinds);
    injected[kind] = (injected[kind] ?? 0) + 1;
    switch (kind) {
      case 'drop-request':
        throw lost();
      case 'drop-answer':
        await (await inner(input, init)).arrayBuffer();
        throw lost();
      case 'duplicate':
        await (await inner(input, init)).arrayBuffer();
        return await inner(input, init);
      case 'refuse-429':
        return refusal(429);
      case 'refuse-503':
        return refusal(503);
      case 'fail-500':
        return new Response('{"error": "worker fault", "category": "server"}', { status: 500 });
      case 'slow':
        await sleep(5 + random.integer(20));
        return await inner(input, init);
      case 'cut-answer':
        return cut(await inner(input, init));
      case 'kill':
        await restart();
        throw lost();
      case 'answer-kill':
        await (await inner(input, init)).arrayBuffer();
        await restart();
        throw lost();
    }
  };
  return { fetch: failing, injected };
}

function lost(): Error {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  return new TypeError('fetch failed', { cause });
}

function refusal(status: number): Response {
  const body = '{"error": "busy", "category": "capacity"}';
  return new Response(body, { status, headers: { 'retry-after': '0' } });
}

/** An answer whose connection breaks in the middle. */
async function cut(answer: Response): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length >> 1));
    },
    pull(controller) {
      controller.error(lost());
    },
  });
  const { status, headers } = answer;
  return new Response(stream, { status, headers });
}
