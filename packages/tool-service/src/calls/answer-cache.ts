/** Remembers answers of deterministic tools, and makes equal calls that come together once. */
import { createHash } from 'node:crypto';
import type { Outcome } from '@saccade/sandbox';
import type { GivenArguments, ToolImage } from '@saccade/tools';
import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../canonical-json.ts';
import { CallFault } from '../faults.ts';

/** The inputs that an answer depends on. */
export interface CallIdentity {
  readonly tool: string;
  readonly version: string;
  readonly given: GivenArguments;
  readonly images: readonly ToolImage[];
}

/** An outcome, and whether it took no work of its own. */
export interface Answer {
  readonly outcome: Outcome;
  readonly isCached: boolean;
}

/** A call under way, and how many wait for it. */
interface Flight {
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  waiting: number;
}

/** Kinds that the same call would give again; the others depend on the machine's load. */
const LASTING: readonly unknown[] = ['ok', 'exception'];

/** SHA-256 over all that an answer depends on: two calls with one key have one answer. */
export function keyOf({ tool, version, given, images }: CallIdentity): string {
  const hash = createHash('sha256');
  hash.update(canonicalJson([tool, version, given]));
  for (const { name, png, origin } of images) {
    // Lengths first: no two lists of images can run into each other.
    hash.update(canonicalJson([name, origin, png.byteLength]));
    hash.update(png);
  }
  return hash.digest('base64');
}

export class AnswerCache {
  readonly #answers: LRUCache<string, Outcome> | undefined;
  readonly #flights = new Map<string, Flight>();

  /** @param maxBytes of all answers together; 0 to remember none */
  constructor(maxBytes: number) {
    this.#answers =
      maxBytes > 0 ? new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf }) : undefined;
  }

  get bytes(): number {
    return this.#answers?.calculatedSize ?? 0;
  }

  get size(): number {
    return this.#answers?.size ?? 0;
  }

  /**
   * The remembered answer; else that of an equal call under way; else of `run`, which is remembered.
   *
   * @param signal ends the wait of this caller alone
   * @param run makes the call; its signal aborts when nobody waits any more
   * @throws what `run` throws, to all that wait; the signal's reason
   */
  async answer(
    key: string,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const known = this.#answers?.get(key);
    if (known !== undefined) return { outcome: known, isCached: true };
    const underWay = this.#flights.get(key);
    const flight = underWay ?? this.#start(key, run);
    flight.waiting += 1;
    let leave: () => void = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        flight.waiting -= 1;
        if (flight.waiting === 0) this.#abandon(key, flight);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return {
        outcome: await Promise.race([flight.outcome, left]),
        isCached: underWay !== undefined,
      };
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #start(key: string, run: (signal: AbortSignal) => Promise<Outcome>): Flight {
    const controller = new AbortController();
    const outcome = run(controller.signal);
    const flight: Flight = { outcome, controller, waiting: 0 };
    this.#flights.set(key, flight);
    outcome.then(
      (given) => {
        this.#forget(key, flight);
        if (LASTING.includes(given.kind)) this.#answers?.set(key, given);
      },
      () => this.#forget(key, flight),
    );
    return flight;
  }

  /** Nobody waits: whoever asks next has the call made anew. */
  #abandon(key: string, flight: Flight): void {
    this.#forget(key, flight);
    flight.controller.abort(new CallFault('left', 'Nobody waits for it any more.'));
  }

  #forget(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

/** Bytes that an outcome takes, strings as JavaScript holds them. */
function sizeOf({ stdout, stderr, images, error }: Outcome): number {
  const texts = stdout.length + stderr.length + JSON.stringify(error ?? '').length;
  return 500 + 2 * texts + images.reduce((sum, { png }) => sum + png.byteLength + 200, 0);
}
