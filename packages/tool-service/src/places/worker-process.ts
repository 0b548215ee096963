/** One process of tools as its service sees it: starts it, sends it work, learns of its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ConfigError, MissingError, messageOf } from '@saccade/core';
import { CallFault, callFaultKind } from '../faults.ts';
import { type DescribedTool, describedToolSchema } from '../wire.ts';
import { environmentWith } from './environment.ts';
import type { NamedTool } from './load-choices.ts';
import type { OnSettled, PlacedCall, PlaceEvents } from './place.ts';
import { type Order, type Question, reportSchema } from './worker-messages.ts';

export interface WorkerOptions extends PlaceEvents {
  /** For messages: of the place, and which of its processes. */
  readonly name: string;
  /** Addresses of the modules that its tools come from. */
  readonly modules: readonly string[];
  readonly tools: readonly NamedTool[];
  /** Added to the environment, e.g. `CUDA_VISIBLE_DEVICES`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resident memory at which it is ended; no limit where it is absent. */
  readonly memoryMib?: number;
  /** From its start until its tools are warm. */
  readonly startSeconds: number;
  readonly maxPixels: number;
  /** Answers to the questions of its tools. */
  readonly answers: Readonly<Record<Question, () => Promise<unknown>>>;
}

/** Why a process is no more. */
export interface Death {
  /** `exit` by itself, `signal` by another, or why it was ended. */
  readonly cause: 'exit' | 'signal' | 'hung' | 'blocked' | 'memory' | 'start' | 'closed';
  /** One sentence. */
  readonly message: string;
}

/** Work that a process does. */
interface Run {
  readonly calls: readonly PlacedCall[];
  readonly onSettled: OnSettled;
  readonly onEnded: () => void;
}

const program = fileURLToPath(new URL('../../bin/worker.js', import.meta.url));
const LOOK_MS = 500;
const CLOSE_MS = 3000;
const PAGE_BYTES = 4096;
/** Kept of what a process wrote to its standard error, for the message of its death. */
const TAIL_CHARACTERS = 600;

export class WorkerProcess {
  /** Its tools, once it has opened them. Rejects if it cannot. */
  readonly opened: Promise<readonly DescribedTool[]>;
  /** Resolves once it takes work. Rejects if it never will. */
  readonly warm: Promise<void>;
  /** Resolves when it is gone. */
  readonly died: Promise<Death>;
  readonly #options: WorkerOptions;
  readonly #child: ChildProcess;
  readonly #runs = new Map<number, Run>();
  readonly #watch: NodeJS.Timeout;
  readonly #pings: (() => void)[] = [];
  readonly #settled = { opened: deferred<readonly DescribedTool[]>(), warm: deferred<void>() };
  readonly #startTimer: NodeJS.Timeout;
  #isDead = false;
  #reason: Death | undefined;
  #tail = '';

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { memoryMib, environment, modules, tools, maxPixels, startSeconds } = options;
    this.#child = fork(program, [], {
      // A group of its own: what its tools have started ends with it, and Ctrl-C is ours to handle.
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: environmentWith(environment),
      execArgv: memoryMib === undefined ? [] : [`--max-old-space-size=${memoryMib}`],
    });
    this.opened = this.#settled.opened.promise;
    this.warm = this.#settled.warm.promise;
    for (const promise of [this.opened, this.warm]) promise.catch(() => {});
    this.died = this.#untilDead();
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#tail = (this.#tail + text).slice(-TAIL_CHARACTERS);
    });
    this.#child.on('message', (message) => this.#hear(message));
    this.#watch = setInterval(() => void this.#look(), LOOK_MS);
    this.#startTimer = setTimeout(() => {
      this.kill('start', `It was not ready within ${startSeconds} seconds.`);
    }, startSeconds * 1000);
    this.#send({ kind: 'open', modules, tools, maxPixels, warmUpSeconds: startSeconds });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends work; each call's end and the work's end are told, unless the process dies before. */
  run(id: number, tool: string, run: Run): void {
    this.#runs.set(id, run);
    const calls = run.calls.map(({ given, images }) => ({ given, images }));
    this.#send({ kind: 'run', id, tool, calls });
  }

  abort(id: number, index: number): void {
    if (this.#runs.has(id)) this.#send({ kind: 'abort', id, index });
  }

  /** Resolves when it answers: never, while a call holds it up. */
  ping(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.#pings.push(resolve));
    this.#send({ kind: 'ping' });
    return answered;
  }

  /** Ends it, and all that it started, at once. */
  kill(cause: Death['cause'], message: string): void {
    this.#reason ??= { cause, message };
    this.#killGroup();
  }

  /** Lets it close its tools, and ends it if that takes long. */
  async close(): Promise<void> {
    this.#reason ??= { cause: 'closed', message: 'The service stopped.' };
    this.#send({ kind: 'close' });
    const timer = setTimeout(() => this.#killGroup(), CLOSE_MS);
    await this.died;
    clearTimeout(timer);
  }

  #send(order: Order): void {
    // A process that is gone is noticed by its end; the error of a broken channel says no more.
    if (this.#child.connected) this.#child.send(order, () => {});
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isDead) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  }

  async #untilDead(): Promise<Death> {
    const death = await new Promise<Death>((resolve) => {
      this.#child.once('error', (error) => resolve({ cause: 'start', message: messageOf(error) }));
      this.#child.once('exit', (code, signal) => {
        const how = signal === null ? `with status ${code}` : `by signal ${signal}`;
        const said = this.#tail.trim();
        const message = `It ended ${how}${said === '' ? '' : `, saying: ${said}`}.`;
        const end: Death = { cause: signal === null ? 'exit' : 'signal', message };
        // Messages sent before its end are still on their way until the channel closes.
        const close = (): void => resolve(end);
        if (!this.#child.connected) return close();
        this.#child.once('disconnect', close);
        setTimeout(close, 1000).unref();
      });
    });
    clearInterval(this.#watch);
    clearTimeout(this.#startTimer);
    this.#killGroup();
    this.#isDead = true;
    const reason = this.#reason ?? death;
    const error = new MissingError(`The process ${this.#options.name}: ${reason.message}`);
    this.#settled.opened.reject(error);
    this.#settled.warm.reject(error);
    return reason;
  }

  #hear(message: unknown): void {
    const parsed = reportSchema.safeParse(message);
    if (!parsed.success) return;
    const said = parsed.data;
    if (said.kind === 'settled') {
      const { id, index, outcome, fault } = said;
      const run = this.#runs.get(id);
      if (run === undefined || index >= run.calls.length) return;
      const kind = callFaultKind(fault);
      if (fault === undefined) run.onSettled(index, { outcome });
      else run.onSettled(index, { fault: new CallFault(kind, said.message ?? '') });
    } else if (said.kind === 'ended') {
      const run = this.#runs.get(said.id);
      this.#runs.delete(said.id);
      run?.onEnded();
    } else if (said.kind === 'opened') {
      const tools = describedToolSchema.array().safeParse(said.tools);
      if (tools.success) this.#settled.opened.resolve(tools.data);
      else this.kill('start', `A tool is described badly: ${tools.error.issues[0]?.message}.`);
    } else if (said.kind === 'warm') {
      clearTimeout(this.#startTimer);
      this.#settled.warm.resolve();
    } else if (said.kind === 'refused') {
      const { name } = this.#options;
      const text = `The process ${name}: ${said.message}`;
      const error =
        said.code === 'config' ? new ConfigError('tools', text) : new MissingError(text);
      this.#settled.opened.reject(error);
      this.#settled.warm.reject(error);
      this.kill('start', said.message);
    } else if (said.kind === 'pong') {
      for (const resolve of this.#pings.splice(0)) resolve();
    } else if (said.kind === 'ask') {
      void this.#answer(said.what);
    } else if (said.kind === 'warning') {
      this.#options.onWarning?.(`${this.#options.name}: ${said.message}`);
    }
  }

  async #answer(to: Question): Promise<void> {
    try {
      this.#send({ kind: 'answer', to, value: await this.#options.answers[to]() });
    } catch (error) {
      this.#send({ kind: 'answer', to, problem: messageOf(error) });
    }
  }

  /** Ends it where it holds too much memory. */
  async #look(): Promise<void> {
    const { memoryMib } = this.#options;
    if (memoryMib === undefined || this.#child.pid === undefined) return;
    const held = await residentMib(this.#child.pid);
    if (held <= memoryMib) return;
    this.kill('memory', `It held ${Math.round(held)} MiB of memory, more than ${memoryMib}.`);
  }
}

/** Memory of a process; 0 where the system does not say. */
async function residentMib(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    return (Number(pages) * PAGE_BYTES) / 2 ** 20;
  } catch {
    return 0;
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((...given) => {
    [resolve, reject] = given;
  });
  return { promise, resolve, reject };
}
