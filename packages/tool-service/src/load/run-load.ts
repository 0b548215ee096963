/** Many rollouts that call tools of a service at a time, some of which break: every call ends right. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importOptional, type Random, randomAt } from '@saccade/core';
import type { OpenTools, Tool, ToolContext, ToolImage } from '@saccade/tools';
import { remoteTools } from '../client/remote-tools.ts';
import type { PlacementInput } from '../placement.ts';
import { openToolService, type ToolService } from '../service.ts';
import {
  type CallEnd,
  Cancelled,
  digestOf,
  endName,
  type Injected,
  wrongEnd,
} from './check-end.ts';
import { faults } from './faulty.ts';
import { type Belongings, belongings, newBelongings } from './leftovers.ts';

/** Tools of one group of processes. */
export interface LoadGroup {
  readonly name: string;
  /** Each by its name, with settings where it takes some. */
  readonly tools: readonly { readonly name: string }[];
  readonly copies?: number;
  readonly concurrency?: number;
}

/** A load. */
export interface LoadOptions {
  readonly groups: readonly LoadGroup[];
  /** Addresses of the modules that the tools come from. */
  readonly modules: readonly string[];
  /** The address of this package's module `load`, compiled: processes load it. */
  readonly loadModule: string;
  readonly python: () => Promise<string>;
  /** Callers at a time. */
  readonly rollouts: number;
  readonly seconds: number;
  /** Share of the calls that break, from 0 to 1. Default 0.05. */
  readonly faultShare?: number;
  /** Share of the calls that their caller gives up. Default 0.02. */
  readonly cancelShare?: number;
  /** Share of the calls that an earlier call may answer. Default 0.25. */
  readonly repeatShare?: number;
  /** Calls of one piece of work, of tools that take several. Default 1. */
  readonly maxBatch?: number;
  /** Only calls of these tools; all of them by default. */
  readonly only?: readonly string[];
  /** Longest call. Default 60. */
  readonly timeoutSeconds?: number;
  /** Longest run of a call, its wait excluded. Default 5. */
  readonly runSeconds?: number;
  /** Memory of a process. Default 512. */
  readonly memoryMib?: number;
  /** Default 1. */
  readonly seed?: number;
  readonly onProgress?: (note: string) => void;
}

/** The results of a load. */
export interface LoadReport {
  readonly calls: number;
  readonly seconds: number;
  readonly callsPerSecond: number;
  /** By tool: calls that ended well, and the milliseconds that they took. */
  readonly tools: Readonly<Record<string, { calls: number; p50: number; p95: number }>>;
  /** By how calls were made to break: how they ended. */
  readonly ends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Ends that were wrong, and calls that ended not once. */
  readonly violations: readonly string[];
  /** Lines of the service's metrics: restarts, hits, late outcomes. */
  readonly counters: readonly string[];
  /** Leftovers after everything was closed. */
  readonly leftovers: Belongings;
}

const IMAGES = 8;
const LOOK_MS = 100;
const CLOSE_LOOKS = 50;

/** Runs a load against a service of its own, over HTTP. @throws what opening the service throws */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const before = await belongings();
  const scratch = await mkdtemp(join(tmpdir(), 'saccade-load-'));
  const { timeoutSeconds = 60, python, onProgress = () => {} } = options;
  const warnings: string[] = [];
  const service = await openToolService({
    ...{ python, placement: placementOf(options, scratch), modules: [options.loadModule] },
    onEvent: (event) => event.kind === 'warning' && warnings.push(event.message),
    onError: (error) => warnings.push(String(error)),
  });
  let run: LoadRun | undefined;
  let counters: readonly string[] = [];
  try {
    onProgress('warming up');
    await untilReady(service);
    const own = { url: service.url, timeoutSeconds: timeoutSeconds + 5, retries: 0 };
    const open = await remoteTools({ ...own, maxInFlight: options.rollouts });
    try {
      run = new LoadRun(options, open, await makeImages(options.seed ?? 1));
      await run.go();
    } finally {
      await open.dispose();
    }
    counters = await countersOf(service);
  } finally {
    await service.drain(10);
    await rm(scratch, { recursive: true, force: true });
  }
  return { ...run.report(), counters, leftovers: await leftoversSince(before) };
}

function placementOf(options: LoadOptions, scratch: string): PlacementInput {
  const { modules, timeoutSeconds = 60, runSeconds = 5, memoryMib = 512, maxBatch = 1 } = options;
  return {
    processes: options.groups.map(({ name, tools, copies = 1, concurrency = 1 }) => {
      const settings = { modules: [...modules], tools: [...tools], scratch };
      const faulty = { name: 'faulty', ...settings, slowSeconds: runSeconds + 1 };
      return { name, tools: [faulty], copies, concurrency, memoryMib };
    }),
    limits: { timeoutSeconds, runSeconds, maxBatch, maxWaitMs: 10 },
  };
}

async function untilReady(service: ToolService): Promise<void> {
  const giveUp = performance.now() + 180_000;
  while (service.problem() !== undefined) {
    if (performance.now() > giveUp) throw new Error(`Not ready: ${service.problem()}`);
    await pause(LOOK_MS);
  }
}

async function countersOf({ url }: ToolService): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const wanted =
    /^saccade_tools_(restarts_total|cache_hits_total|late_total|batch_size_(sum|count))/;
  return text.split('\n').filter((line) => wanted.test(line));
}

/** The leftovers, once everything that was closed has had time to go. */
async function leftoversSince(before: Belongings): Promise<Belongings> {
  for (let look = 0; ; look++) {
    const left = newBelongings(before, await belongings());
    const isClean = left.processes.length + left.files.length + left.sockets === 0;
    if (isClean || look === CLOSE_LOOKS) return left;
    await pause(LOOK_MS);
  }
}

/** Noise on a slope: each is another file of about 150 KB. */
async function makeImages(seed: number): Promise<readonly ToolImage[]> {
  const [width, height] = [320, 240];
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Drawing images',
    () => import('sharp'),
  );
  return await Promise.all(
    Array.from({ length: IMAGES }, async (_, index) => {
      const random = randomAt(seed, 'load image', index);
      const data = Uint8Array.from({ length: width * height * 3 }, (_unused, at) => {
        return ((at >> 4) & 127) + Math.floor(64 * random.uniform());
      });
      const made = sharp(data, { raw: { width, height, channels: 3 } });
      return { name: 'image_0', png: new Uint8Array(await made.png().toBuffer()), width, height };
    }),
  );
}

class LoadRun {
  readonly #options: LoadOptions;
  readonly #tools: readonly Tool[];
  readonly #images: readonly ToolImage[];
  /** Digests of outcomes without load, by tool and image. */
  readonly #references = new Map<string, string | undefined>();
  readonly #took = new Map<string, number[]>();
  readonly #ends = new Map<Injected, Map<string, number>>();
  readonly #violations: string[] = [];
  #calls = 0;
  #ended = 0;
  #seconds = 0;

  constructor(options: LoadOptions, open: OpenTools, images: readonly ToolImage[]) {
    const { only } = options;
    this.#options = options;
    this.#tools = open.tools.filter(({ name }) => only?.includes(name) !== false);
    this.#images = images;
  }

  async go(): Promise<void> {
    const { rollouts, seconds, onProgress = () => {} } = this.#options;
    await this.#makeReferences();
    const began = performance.now();
    const end = began + seconds * 1000;
    const told = setInterval(() => {
      const at = Math.round((performance.now() - began) / 1000);
      onProgress(
        `${at} s: ${this.#ended} of ${this.#calls} calls ended, ${this.#violations.length} wrong`,
      );
    }, 10_000);
    await Promise.all(Array.from({ length: rollouts }, (_, index) => this.#rollOut(index, end)));
    clearInterval(told);
    this.#seconds = (performance.now() - began) / 1000;
  }

  report(): Omit<LoadReport, 'counters' | 'leftovers'> {
    const tools = [...this.#took].map(([name, all]) => {
      const sorted = all.toSorted((a, b) => a - b);
      const at = (share: number): number => Math.round(sorted[Math.floor(share * all.length)] ?? 0);
      return [name, { calls: all.length, p50: at(0.5), p95: at(0.95) }] as const;
    });
    const ends = [...this.#ends].map(([name, kinds]) => [name, Object.fromEntries(kinds)] as const);
    return {
      calls: this.#calls,
      seconds: this.#seconds,
      callsPerSecond: this.#ended / this.#seconds,
      tools: Object.fromEntries(tools.sort()),
      ends: Object.fromEntries(ends.sort()),
      violations: this.#violations,
    };
  }

  /** Every tool on every image, one after another; nothing where two answers differ. */
  async #makeReferences(): Promise<void> {
    const context = { sandbox: { open: () => Promise.reject(new Error('not here')) } };
    for (const tool of this.#tools) {
      for (const [index, image] of this.#images.entries()) {
        const ticket = `reference-${index}`;
        const digests = [];
        for (const turn of [1, 2]) {
          const given = { ...tool.example, ticket: `${ticket}-${turn}` };
          digests.push(digestOf(await tool.call(given, { ...context, images: [image] })));
        }
        const isSame = digests[0] === digests[1];
        this.#references.set(`${tool.name} ${index}`, isSame ? digests[0] : undefined);
      }
    }
  }

  async #rollOut(index: number, end: number): Promise<void> {
    const random = randomAt(this.#options.seed ?? 1, 'load rollout', index);
    for (let turn = 0; performance.now() < end; turn++) {
      await this.#callOnce(random, `${index}-${turn}`);
    }
  }

  async #callOnce(random: Random, ticket: string): Promise<void> {
    const { faultShare = 0.05, cancelShare = 0.02, repeatShare = 0.25 } = this.#options;
    const tool = random.pick(this.#tools);
    const imageIndex = Math.floor(random.uniform() * this.#images.length);
    const [image] = this.#images.slice(imageIndex);
    const draw = random.uniform();
    const injected: Injected =
      draw < faultShare ? random.pick(faults) : draw < faultShare + cancelShare ? 'cancel' : 'none';
    const isRepeat = injected === 'none' && random.uniform() < repeatShare;
    const given = {
      ...tool.example,
      ...(injected !== 'none' && injected !== 'cancel' && { fault: injected }),
      ...(!isRepeat && { ticket }),
    };
    const controller = new AbortController();
    const leaveMs = 200 * random.uniform();
    const timer =
      injected === 'cancel' && setTimeout(() => controller.abort(new Cancelled('enough')), leaveMs);
    this.#calls++;
    const began = performance.now();
    const end = await endOf(tool, given, {
      ...{ images: image === undefined ? [] : [image], signal: controller.signal },
      sandbox: { open: () => Promise.reject(new Error('not here')) },
    });
    clearTimeout(timer || undefined);
    this.#ended++;
    this.#count(injected, endName(end));
    if (injected === 'none' && 'outcome' in end) {
      const took = this.#took.get(tool.name) ?? [];
      this.#took.set(tool.name, took);
      took.push(performance.now() - began);
    }
    const reference = this.#references.get(`${tool.name} ${imageIndex}`);
    const problem = wrongEnd(injected, end, reference);
    if (problem !== undefined) this.#violations.push(`${tool.name} ${ticket}: ${problem}`);
  }

  #count(injected: Injected, name: string): void {
    const kinds = this.#ends.get(injected) ?? new Map<string, number>();
    this.#ends.set(injected, kinds.set(name, (kinds.get(name) ?? 0) + 1));
  }
}

async function endOf(tool: Tool, given: object, context: ToolContext): Promise<CallEnd> {
  try {
    return { outcome: await tool.call({ ...given }, context) };
  } catch (error) {
    return { error };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
