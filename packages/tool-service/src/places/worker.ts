/** The program of a process of tools: opens them, makes calls, says how each ended. */
import { messageOf, SaccadeError } from '@saccade/core';
import { openRemoteSandbox } from '@saccade/sandbox';
import { type OpenTools, openTools, type ToolHost } from '@saccade/tools';
import { CallFault } from '../faults.ts';
import { describeTool } from '../wire.ts';
import { secretFrom } from './environment.ts';
import { lazySandbox } from './lazy-sandbox.ts';
import { chooseTools, loadChoices } from './load-choices.ts';
import type { Settled } from './place.ts';
import type { SandboxAddress } from './sandbox-hub.ts';
import { ToolRunner } from './tool-runner.ts';
import { warmUp } from './warm-up.ts';
import type { Order, Question, Report } from './worker-messages.ts';

type Answer = Extract<Order, { kind: 'answer' }>;

/** Serves the process that forked this one, until it says `close` or is gone. */
export function runWorker(): void {
  const worker = new ToolWorker();
  process.on('message', (order: Order) => worker.take(order));
  process.on('disconnect', () => process.exit());
  // A rejection that a tool forgot is one call's problem at most: its deadline ends that.
  process.on('unhandledRejection', (error) => {
    report({ kind: 'warning', message: `A tool left a rejection behind: ${messageOf(error)}` });
  });
}

function report(said: Report): void {
  process.send?.(said);
}

class ToolWorker {
  readonly #running = new Map<number, readonly AbortController[]>();
  readonly #host: ToolHost = {
    python: async () => (await this.#ask('python')) as string,
    onEvent: (event) => {
      if (event.kind === 'warning') report(event);
    },
    secret: secretFrom,
  };
  readonly #sandbox = lazySandbox(async () => {
    const { url, token } = (await this.#ask('sandbox')) as SandboxAddress;
    return await openRemoteSandbox({ hosts: [url], token });
  });
  #open: OpenTools | undefined;
  #runner: ToolRunner | undefined;
  #questions: { readonly what: Question; take(answer: Answer): void }[] = [];

  take(order: Order): void {
    if (order.kind === 'open') void this.#start(order);
    else if (order.kind === 'run') void this.#run(order);
    else if (order.kind === 'abort') this.#abort(order.id, order.index);
    else if (order.kind === 'answer') this.#hear(order);
    else if (order.kind === 'ping') report({ kind: 'pong' });
    else void this.#close();
  }

  async #start(order: Extract<Order, { kind: 'open' }>): Promise<void> {
    const { modules, tools, maxPixels, warmUpSeconds } = order;
    try {
      const chosen = chooseTools(await loadChoices(modules), tools);
      this.#open = await openTools(chosen, this.#host);
      const runner = new ToolRunner({ tools: this.#open.tools, sandbox: this.#sandbox });
      const described = this.#open.tools.map(describeTool);
      report({ kind: 'opened', tools: described });
      await warmUp({
        tools: described,
        ...{ maxPixels, seconds: warmUpSeconds },
        run: (tool, calls, onSettled) => runner.run(tool, calls, onSettled),
      });
      this.#runner = runner;
      report({ kind: 'warm' });
    } catch (error) {
      const code = error instanceof SaccadeError ? error.code : 'tool';
      report({ kind: 'refused', code, message: messageOf(error) });
    }
  }

  async #run({ id, tool, calls }: Extract<Order, { kind: 'run' }>): Promise<void> {
    const controllers = calls.map(() => new AbortController());
    this.#running.set(id, controllers);
    const placed = calls.map((call, index) => ({
      ...call,
      // The service ends this process where a call runs for too long.
      runMs: Number.POSITIVE_INFINITY,
      signal: (controllers[index] ?? new AbortController()).signal,
    }));
    await this.#runner?.run(tool, placed, (index, settled) => settle(id, index, settled));
    this.#running.delete(id);
    report({ kind: 'ended', id });
  }

  #abort(id: number, index: number): void {
    this.#running.get(id)?.[index]?.abort(new CallFault('left', 'Nobody waits for it any more.'));
  }

  #ask(what: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const take = ({ value, problem }: Answer): void => {
        if (problem === undefined) resolve(value);
        else reject(new CallFault('unavailable', problem));
      };
      this.#questions.push({ what, take });
      report({ kind: 'ask', what });
    });
  }

  #hear(answer: Answer): void {
    const heard = this.#questions.filter(({ what }) => what === answer.to);
    this.#questions = this.#questions.filter(({ what }) => what !== answer.to);
    for (const { take } of heard) take(answer);
  }

  async #close(): Promise<void> {
    await this.#open?.dispose().catch(() => {});
    await this.#sandbox.dispose().catch(() => {});
    process.exit();
  }
}

function settle(id: number, index: number, settled: Settled): void {
  if ('fault' in settled) {
    const { kind, message } = settled.fault;
    report({ kind: 'settled', id, index, fault: kind, message });
    return;
  }
  try {
    report({ kind: 'settled', id, index, outcome: settled.outcome });
  } catch (error) {
    // Functions and the like cannot be sent, nor can they be part of an outcome.
    const message = `It gave no outcome: ${messageOf(error)}`;
    report({ kind: 'settled', id, index, fault: 'garbled', message });
  }
}
