/** Gives a recorded conversation again, and only that one. */
import { StateError } from '@saccade/core';
import {
  bytesOf,
  type Exchange,
  type RecordedBody,
  type Recording,
  recordedRequest,
} from './recording.ts';

/** Requests whose times are the clock's: a recording has none of them. */
export const untimed: readonly string[] = ['/api/v1/session_heartbeat'];

/** A recording in the place of a server. */
export interface ReplayServer {
  readonly url: string;
  /** Answers the recorded requests in their order, byte for byte; after another one, nothing more. */
  readonly fetch: typeof fetch;
  /** @throws StateError if another request came, or not all came */
  expectFinished(): void;
}

/** A server that knows one conversation: strict, so that what passes is what was recorded. */
export function replayServer({ label, exchanges }: Recording): ReplayServer {
  let next = 0;
  let mismatch: string | undefined;
  const what = `${label.server} ${label.version}`;
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (untimed.includes(pathname)) return Response.json({});
    const bytes = new Uint8Array(await request.arrayBuffer());
    const got = recordedRequest(bytes, bytes.length === 0 ? null : typeOf(request));
    const expected = exchanges[next];
    mismatch ??= differenceOf(expected, request.method, pathname, got, next);
    if (mismatch !== undefined || expected === undefined) {
      // A refusal by the caller's fault, so that no client asks again.
      return Response.json({ error: mismatch, category: 'user' }, { status: 400 });
    }
    next++;
    const { status, answer: recorded } = expected;
    const { type } = recorded;
    return new Response(status === 204 ? null : bytesOf(recorded), {
      status,
      headers: type === undefined ? {} : { 'content-type': type },
    });
  };
  return {
    url: 'http://recorded.test',
    fetch: async (input, init) => await answer(new Request(input as string, init)),
    expectFinished(): void {
      const open = exchanges.length - next;
      if (mismatch === undefined && open === 0) return;
      const said = mismatch ?? `${open} of ${exchanges.length} recorded requests were not made.`;
      throw new StateError(
        `The recording of ${what} does not hold this conversation: ${said} Record it again ` +
          'if the client asks otherwise now.',
      );
    },
  };
}

function typeOf(request: Request): string | null {
  return request.headers.get('content-type');
}

function differenceOf(
  expected: Exchange | undefined,
  method: string,
  path: string,
  got: RecordedBody,
  at: number,
): string | undefined {
  const asked = `request ${at + 1} is ${method} ${path}`;
  if (expected === undefined) return `${asked}, and the recording has ended.`;
  if (expected.method !== method || expected.path !== path) {
    return `${asked}, recorded is ${expected.method} ${expected.path}.`;
  }
  const [have, want] = [JSON.stringify(got), JSON.stringify(expected.request)];
  if (have === want) return undefined;
  let first = 0;
  while (have[first] === want[first]) first++;
  const around = (text: string) => text.slice(Math.max(0, first - 40), first + 40);
  return `${asked} with …${around(have)}…, recorded is …${around(want)}….`;
}
