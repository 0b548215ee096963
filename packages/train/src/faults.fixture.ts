/**
 * A campaign of injected faults: which rollout fails where, how and how often, by its name alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomAt } from '@saccade/core';
import {
  createToolEnv,
  type Env,
  type EnvReset,
  type EnvStep,
  type Protocol,
  protocols,
} from '@saccade/gym';
import type { StagePolicy } from '@saccade/loop';
import type {
  LossFunction,
  PackedBatch,
  Policy,
  SampleRequest,
  SampleResult,
} from '@saccade/policy';
import type { Reward } from '@saccade/rewards';
import { type Sandbox, SandboxError } from '@saccade/sandbox';
import type { Failure } from '@saccade/trajectory';

type Boundary = Failure['boundary'];

/** The planned fault of one rollout. */
export interface FaultPlan {
  /** `policy.crash`, `sandbox.oversized`, … or `none`. */
  readonly fault: string;
  /** Tries that break; Infinity if it never works. */
  readonly tries: number;
}

/** Faults that break a rollout at a boundary: after its retries it has failed there. */
const BREAKING: readonly string[] = [
  'policy.crash',
  'policy.garbage',
  'env.crash',
  'env.garbage',
  'tool.crash',
  'tool.garbage',
  'sandbox.crash',
  'reward.crash',
  'reward.garbage',
];
/** Code for faults of a real sandbox; the model gets to see the outcome. */
const CODE: Readonly<Record<string, string>> = {
  'sandbox.hang': 'import time\ntime.sleep(60)',
  'sandbox.kill': "import os\ngetattr(os, 'kill')(os.getpid(), 9)",
  'sandbox.exit': 'import os\nos._exit(3)',
  'sandbox.garbage':
    'import os\nfor fd in range(3, 64):\n  try:\n    os.write(fd, b"\\xff" * 512)\n  except OSError:\n    pass',
  'sandbox.oversized': 'Image.new("RGB", (30000, 30000)).show()',
  'sandbox.none': 'print(6 * 7)',
};
const SLOW: readonly string[] = ['policy.slow', 'env.slow', 'tool.slow'];
const HANGS: readonly string[] = ['policy.hang', 'env.hang', 'tool.hang'];
const NONE: FaultPlan = { fault: 'none', tries: 0 };

/**
 * Whether a task has a rollout that hangs: its first. All others of its group go through, so that
 * nothing but the hanging one is cut by the deadline.
 */
export function hangOf(seed: number, taskId: string): string | undefined {
  const random = randomAt(seed, 'hang', taskId);
  return random.uniform() < 0.03 ? random.pick(HANGS) : undefined;
}

/** @param id `train/<ordinal>/<task>/<sample>` */
export function planOf(seed: number, id: string): FaultPlan {
  const [, , ...rest] = id.split('/');
  const sampleIndex = Number(rest.pop());
  const hang = hangOf(seed, rest.join('/'));
  if (hang !== undefined) {
    return sampleIndex === 0 ? { fault: hang, tries: Number.POSITIVE_INFINITY } : NONE;
  }
  const random = randomAt(seed, 'fault', id);
  const kind = random.uniform();
  if (kind < 0.5) return NONE;
  if (kind < 0.6) return { fault: random.pick(SLOW), tries: 1 };
  if (kind < 0.75) return { fault: random.pick(Object.keys(CODE)), tries: 0 };
  const tries = random.uniform() < 0.5 ? 1 + random.integer(2) : Number.POSITIVE_INFINITY;
  return { fault: random.pick(BREAKING), tries };
}

/** Where a rollout of this plan fails for good; undefined if it gets through. */
export function failureOf({ fault, tries }: FaultPlan): Boundary | undefined {
  if (tries !== Number.POSITIVE_INFINITY || !BREAKING.includes(fault)) return undefined;
  return fault.split('.')[0] as Boundary;
}

/** Breaks what is to break, and counts. */
export class Faults {
  readonly seed: number;
  /** Faults by name that were set off. */
  readonly injected: Record<string, number> = {};
  readonly #tried = new Map<string, number>();

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The fault that is due now at this boundary, if one is. */
  strike(id: string, boundary: string): string | undefined {
    const { fault, tries } = planOf(this.seed, id);
    const [where, kind] = fault.split('.');
    if (where !== boundary || kind === undefined) return undefined;
    const tried = this.#tried.get(id) ?? 0;
    if (tried >= tries) return undefined;
    this.#tried.set(id, tried + 1);
    this.count(fault);
    return kind;
  }

  count(fault: string): void {
    this.injected[fault] = (this.injected[fault] ?? 0) + 1;
  }
}

async function misbehave(kind: string | undefined, error: Error): Promise<void> {
  if (kind === 'crash') throw error;
  if (kind === 'slow') await sleep(150);
  // Deaf to signals, as the worst are.
  if (kind === 'hang') await new Promise(() => {});
}

/** A policy that writes what the plan of each rollout says, and learns nothing. */
export class FaultyPolicy implements StagePolicy {
  version = 0;
  readonly processor: Policy['processor'];
  readonly #faults: Faults;
  readonly #protocol: Protocol;

  constructor(faults: Faults, processor: Policy['processor'], protocol: Protocol) {
    this.#faults = faults;
    this.processor = processor;
    this.#protocol = protocol;
  }

  async sample({ conversation: id }: SampleRequest): Promise<SampleResult> {
    const kind = this.#faults.strike(id, 'policy');
    await misbehave(kind, new Error('the engine is out of memory'));
    const text = this.#say(id);
    const tokens = this.processor.encodeModelText(text, true);
    const logprob = kind === 'garbage' ? Number.NaN : -1;
    return {
      tokens,
      logprobs: new Float32Array(tokens.length).fill(logprob),
      text,
      finish: 'endOfTurn',
      policyVersion: this.version,
    };
  }

  /** The name of the rollout goes along, so that whoever reads it knows which fault is due. */
  #say(id: string): string {
    const { fault } = planOf(this.#faults.seed, id);
    const code = CODE[fault];
    const said = this.#spoken.get(id) ?? 0;
    this.#spoken.set(id, said + 1);
    if (code !== undefined && said === 0) {
      this.#faults.count(fault);
      return this.#protocol.write({ kind: 'code', code: `# ${id}\n${code}` }, 'Look.');
    }
    if (fault.startsWith('tool.') && said % 2 === 0) return `CALL ${id}`;
    return this.#protocol.write({ kind: 'answer', answer: id }, 'Now I know.');
  }

  readonly #spoken = new Map<string, number>();

  release(id: string): void {
    this.#spoken.delete(id);
  }

  async score({ targets }: PackedBatch) {
    const logprobs = new Float32Array(targets.length).fill(-1);
    return { logprobs, entropy: new Float32Array(targets.length) };
  }

  async forwardBackward(batch: PackedBatch, loss: LossFunction) {
    const scores = await this.score(batch);
    return { ...scores, loss: loss(scores).loss };
  }

  async optimizerStep() {
    this.version++;
    return { gradNorm: 1, isSkipped: false };
  }

  resetOptimizer(): void {}
  async save(): Promise<void> {}
  async load(): Promise<void> {}
  dispose(): void {}
}

/** The short protocol, with `CALL <rollout>` for a call of a tool that breaks as planned. */
export function faultyProtocol(faults: Faults): Protocol {
  const base = protocols.get('pyvision-image-short');
  const done = {
    kind: 'ok',
    stdout: 'called',
    stderr: '',
    images: [],
    truncated: [],
    wallMs: 1,
    cpuMs: 1,
    maxRssKb: 1,
    tier: 'none',
  } as const;
  return {
    ...base,
    tools: [
      {
        name: 'faulty',
        description: 'Breaks.',
        parameters: {},
        example: {},
        async call({ id }) {
          const kind = faults.strike(String(id), 'tool');
          await misbehave(kind, new Error('the service is down'));
          return (kind === 'garbage' ? undefined : done) as typeof done;
        },
      },
    ],
    parse(text) {
      const id = /^CALL (.*)$/.exec(text)?.[1];
      return id === undefined
        ? base.parse(text)
        : { kind: 'toolCall', name: 'faulty', arguments: { id } };
    },
  };
}

/** The real environment, broken as planned before it reads a turn. */
export class FaultyEnv implements Env {
  /** Environments that were made and not disposed of. */
  static open = 0;
  readonly #env: Env;
  readonly #faults: Faults;
  #isOpen = true;

  constructor(faults: Faults, protocol: Protocol, sandbox: Sandbox) {
    FaultyEnv.open++;
    this.#faults = faults;
    this.#env = createToolEnv({ protocol, sandbox, budgets: { toolTurns: 4, images: 8 } });
  }

  reset(...args: Parameters<Env['reset']>): Promise<EnvReset> {
    return this.#env.reset(...args);
  }

  async step(text: string, options?: { signal?: AbortSignal }): Promise<EnvStep> {
    const id = /train\/\d+\/[^\s<]*\/\d+/.exec(text)?.[0] ?? '';
    if (this.#faults.strike(id, 'sandbox') === 'crash') throw new SandboxError('no room left');
    const kind = this.#faults.strike(id, 'env');
    await misbehave(kind, new TypeError('state is undefined'));
    if (kind === 'garbage') return { action: { kind: 'invalid', reason: 'nothing' } };
    return await this.#env.step(text, options);
  }

  async dispose(): Promise<void> {
    if (this.#isOpen) FaultyEnv.open--;
    this.#isOpen = false;
    await this.#env.dispose();
  }
}

/** A reward that breaks as planned. */
export function faultyReward(faults: Faults): Reward {
  return {
    name: 'faulty',
    paper: 'none',
    range: [0, 1],
    scope: 'trajectory',
    score({ id, answer }) {
      const kind = faults.strike(id, 'reward');
      if (kind === 'crash') throw new Error('the judge is down');
      return kind === 'garbage' ? Number.NaN : answer === id ? 1 : 0;
    },
  };
}
