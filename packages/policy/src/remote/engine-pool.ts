/**
 * Engines as one sampler. A conversation stays where its context is cached, as long as that engine is
 * there; new ones go where least is asked. What an engine does not answer is asked elsewhere, and the
 * engine gets the newest weights before it is asked again.
 */
import { ConfigError } from '@saccade/core';
import type { Processor, SampleRequest, SampleResult, Sampler } from '../policy.ts';
import { EngineError } from './engine-error.ts';
import { isLost, type LastingEngine, StrangeWeights } from './lasting-engine.ts';
import type { RemotePolicy } from './remote-policy.ts';

/**
 * Gives these engines the weights of the policy, each as one of its `changes`; with none of them, only
 * makes ready what others load later.
 */
export type PublishTo = (engines: readonly RemotePolicy[]) => Promise<void>;

/** Times that weights of others are replaced for one request. */
const MOST_STRANGERS = 5;

/** Times that each other engine is asked what one turned away; or this one, where it is the only one. */
const REFUSALS = 3;

/** Times that the pause before an engine is tried again doubles. */
const MOST_DOUBLINGS = 7;

interface Member {
  readonly engine: LastingEngine;
  /** Requests under way, and conversations that stay here. */
  requests: number;
  conversations: number;
  /** Resolves when it can be asked again, rejects if it is not looked for any more; absent while it is there. */
  away?: Promise<void>;
}

/** A sampler over one engine or several, any of which may be lost. */
export class EnginePool implements Sampler {
  readonly processor: Processor;
  readonly #members: readonly Member[];
  readonly #homes = new Map<string, Member>();
  #isClosed = false;

  /**
   * @param engines at least one, all with one processor
   * @throws ConfigError if there is none
   */
  constructor(engines: readonly LastingEngine[]) {
    const [first] = engines;
    if (first === undefined)
      throw new ConfigError('engines', 'engines is empty. Give at least one.');
    this.processor = first.remote.processor;
    this.#members = engines.map((engine) => ({ engine, requests: 0, conversations: 0 }));
  }

  /** The oldest version that an engine which can be asked may sample with. */
  get version(): number {
    const there = this.#members.filter(({ away }) => away === undefined);
    const some = there.length > 0 ? there : this.#members;
    return Math.min(...some.map(({ engine }) => engine.remote.version));
  }

  /**
   * Gives the engines new weights, of this version. Answers of both are right meanwhile. An engine that
   * is away, or fails to load them, gets them later.
   *
   * @throws EngineError if no engine is left to sample with, or one refuses them
   */
  async update(version: number, publish: PublishTo): Promise<void> {
    for (const { engine } of this.#members) engine.expect(version);
    const there = this.#members.filter(({ away }) => away === undefined);
    try {
      await publish(there.map(({ engine }) => engine.remote));
    } catch (error) {
      if (!mayPass(error)) throw error;
      // Which of them was lost, or failed, is not known.
      await Promise.all(there.map((member) => this.#give(member, publish)));
    }
    await this.#someoneThere();
  }

  /**
   * @throws EngineError if no engine comes back in time, or one refuses the request; the signal's reason
   *   if it is aborted
   */
  async sample(request: SampleRequest): Promise<SampleResult> {
    const { conversation, signal } = request;
    let [strangers, refusals] = [0, 0];
    for (;;) {
      if (!this.#isSomeoneThere) await unlessAborted(this.#someoneThere(), signal);
      const member = this.#homeOf(conversation);
      if (member === undefined) continue;
      member.requests++;
      try {
        return await member.engine.sample(request);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof StrangeWeights && ++strangers > MOST_STRANGERS) throw error;
        if (!isLost(error)) {
          if (!mayPass(error) || ++refusals >= this.#mostRefusals(error)) throw error;
        }
        this.#leave(member, error);
      } finally {
        member.requests--;
      }
    }
  }

  release(key: string): void {
    const home = this.#homes.get(key);
    if (home !== undefined) home.conversations--;
    this.#homes.delete(key);
    for (const { engine } of this.#members) engine.remote.release(key);
  }

  /** Looks for lost engines no more. */
  close(): void {
    this.#isClosed = true;
    for (const { engine } of this.#members) engine.close();
  }

  /** The engine of a conversation; undefined if none can be asked. */
  #homeOf(conversation: string): Member | undefined {
    const home = this.#homes.get(conversation);
    if (home !== undefined && home.away === undefined) return home;
    let best: Member | undefined;
    for (const member of this.#members) {
      if (member.away === undefined && (best === undefined || isFreer(member, best))) best = member;
    }
    if (best === undefined) return undefined;
    if (home !== undefined) home.conversations--;
    best.conversations++;
    this.#homes.set(conversation, best);
    return best;
  }

  get #isSomeoneThere(): boolean {
    return this.#members.some(({ away }) => away === undefined);
  }

  /** The only engine is not asked again what it failed at, or what took it too long. */
  #mostRefusals({ fault }: EngineError): number {
    const others = this.#members.length - 1;
    const mayPassHere = fault === 'overloaded' || fault === 'aborted';
    return REFUSALS * (mayPassHere ? Math.max(others, 1) : others);
  }

  #hasOthers(member: Member): boolean {
    return this.#members.some((other) => other !== member && other.away === undefined);
  }

  async #give(member: Member, publish: PublishTo): Promise<void> {
    try {
      await publish([member.engine.remote]);
    } catch (error) {
      if (!mayPass(error)) throw error;
      this.#leave(member, error);
    }
  }

  #leave(member: Member, cause: EngineError): void {
    if (member.away !== undefined) return;
    member.away = this.#bringBack(member, cause);
    // Those who wait for it hear of a failure; nobody has to.
    member.away.catch(() => {});
  }

  async #bringBack(member: Member, cause: EngineError): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await member.engine.restore(cause);
        // New weights for those who were there may have come just then.
        if (member.engine.isCurrent || this.#isClosed) {
          delete member.away;
          return;
        }
      } catch (error) {
        const canWait = this.#hasOthers(member) && !this.#isClosed;
        if (!(canWait && mayPass(error))) throw error;
      }
      // Another try may load all weights.
      await member.engine.pause(2 ** Math.min(tries, MOST_DOUBLINGS));
    }
  }

  /** @throws EngineError of the first, if none of them comes back */
  async #someoneThere(): Promise<void> {
    if (this.#isSomeoneThere) return;
    try {
      await Promise.any(this.#members.map(({ away }) => away));
    } catch (error) {
      // Whoever asks next looks for them anew.
      for (const member of this.#members) delete member.away;
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }
}

/** Whether an engine may do later, or another one now, what this one did not. */
function mayPass(error: unknown): error is EngineError {
  return isLost(error) || (error instanceof EngineError && error.isTransient);
}

function isFreer(one: Member, other: Member): boolean {
  if (one.requests !== other.requests) return one.requests < other.requests;
  return one.conversations < other.conversations;
}

/** The result of a wait that the signal ends early. */
async function unlessAborted(
  waited: Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal === undefined) {
    await waited;
    return;
  }
  signal.throwIfAborted();
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
