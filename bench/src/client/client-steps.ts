/** Steps of a training behind a learner: where the client's time goes, and what it holds. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LossFunction } from '@saccade/policy';
import { ModelImages, packTrajectories } from '@saccade/rollout';
import { openRemoteLearner, type RemoteLearner } from '@saccade/tinker';
import { makeTrajectories, type PayloadSizes, payloadProcessor } from './payload.ts';
import { type Exchange, type Form, type TimedFetch, timedFetch } from './timed-fetch.ts';

/** Seconds and bytes of one step. */
export interface ClientStep {
  /** Trajectories to packed batches. */
  readonly packing: number;
  /** Batches and gradients to bytes, the hashes of images included. */
  readonly encoding: number;
  /** Sending them until the server has read, checked and accepted them. */
  readonly sending: number;
  /** Results under way: the server's own time, which is none here, and their bytes. */
  readonly waiting: number;
  /** Results to arrays. */
  readonly decoding: number;
  /** Processor time of the client's process over all of it: other work on the machine adds none. */
  readonly processor: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Requests, polls included. */
  readonly requests: number;
}

export const PARTS = ['packing', 'encoding', 'sending', 'waiting', 'decoding'] as const;

/** Most packed tokens of a request: a group of the largest sizes. */
const MICRO_BATCH_TOKENS = 65_536;

const processor = payloadProcessor();

/** A process with a server, and its address. */
export async function startServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./made-server.js', import.meta.url)));
  const [url] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The server ended with ${code}.`);
    }),
  ])) as [string];
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** A client of one form, with a model of its own on a server. */
export class MeasuredClient {
  readonly form: Form;
  readonly #learner: RemoteLearner;
  readonly #timed: TimedFetch;
  #mostBytes = 0;

  private constructor(form: Form, learner: RemoteLearner, timed: TimedFetch, watch: Watch) {
    this.form = form;
    this.#learner = learner;
    this.#timed = timed;
    watch.look = () => this.#look();
  }

  /** @param recoverySteps steps whose batches the client holds, in case the learner is lost */
  static async open(url: string, form: Form, recoverySteps: number): Promise<MeasuredClient> {
    const watch: Watch = { look() {} };
    const timed = timedFetch(form, () => watch.look());
    const learner = await openRemoteLearner({
      baseUrl: url,
      fetch: timed.fetch,
      processor,
      request: { baseModel: 'made' },
      recoverySteps,
    });
    timed.take();
    return new MeasuredClient(form, learner, timed, watch);
  }

  /** The most that the process held at the ends of requests since the last call, in bytes. */
  takeMostBytes(): number {
    const most = this.#mostBytes;
    this.#mostBytes = 0;
    return most;
  }

  /** Packs a step's trajectories, gives the gradient of each micro-batch, steps. */
  async step(sizes: PayloadSizes, seed: number): Promise<ClientStep> {
    const items = makeTrajectories(sizes, processor.imageToken ?? 0, seed);
    const images = new ModelImages(processor);
    const before = process.cpuUsage();
    const began = performance.now();
    const { microBatches } = await packTrajectories(items, {
      images,
      maxTokens: MICRO_BATCH_TOKENS,
    });
    const packing = performance.now() - began;
    this.#timed.take();
    let [encoding, sending, waiting, decoding] = [0, 0, 0, 0];
    const exchanges: Exchange[] = [];
    /** Adds the time of requests, of which several may be under way, and that between them. */
    const account = (from: number, to: number, lossAt?: readonly [number, number]): void => {
      const own = [...this.#timed.take()].sort((one, other) => one.start - other.start);
      let free = from;
      let isDecoded = lossAt === undefined;
      for (const { path, start, end } of own) {
        if (lossAt !== undefined && !isDecoded && start >= lossAt[1]) {
          decoding += lossAt[0] - free;
          free = lossAt[1];
          isDecoded = true;
        }
        encoding += Math.max(0, start - free);
        const spent = Math.max(0, end - Math.max(start, free));
        if (path === '/retrieve_future') waiting += spent;
        else sending += spent;
        free = Math.max(free, end);
      }
      decoding += to - free;
      exchanges.push(...own);
    };
    for (const { packed } of microBatches) {
      let lossAt: readonly [number, number] = [0, 0];
      const loss: LossFunction = ({ logprobs }) => {
        const start = performance.now();
        const gradLogprobs = logprobs.map((value) => value / logprobs.length);
        lossAt = [start, performance.now()];
        return { loss: 0, gradLogprobs };
      };
      const from = performance.now();
      await this.#learner.forwardBackward(packed, loss);
      account(from, performance.now(), lossAt);
    }
    const from = performance.now();
    await this.#learner.optimizerStep({ learningRate: 1e-4 });
    account(from, performance.now());
    const { user, system } = process.cpuUsage(before);
    return {
      packing: packing / 1000,
      encoding: encoding / 1000,
      sending: sending / 1000,
      waiting: waiting / 1000,
      decoding: decoding / 1000,
      processor: (user + system) / 1e6,
      sentBytes: exchanges.reduce((sum, { sentBytes }) => sum + sentBytes, 0),
      receivedBytes: exchanges.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
      requests: exchanges.length,
    };
  }

  async dispose(): Promise<void> {
    await this.#learner.dispose();
  }

  #look(): void {
    const { rss } = process.memoryUsage();
    this.#mostBytes = Math.max(this.#mostBytes, rss);
  }
}

interface Watch {
  look: () => void;
}
