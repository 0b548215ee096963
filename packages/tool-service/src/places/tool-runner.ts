/** Makes calls of opened tools in this process, alone or in a batch; each ends on its own. */
import { messageOf } from '@saccade/core';
import type { Sandbox } from '@saccade/sandbox';
import type { Tool, ToolContext } from '@saccade/tools';
import { CallFault } from '../faults.ts';
import type { OnSettled, PlacedCall, Settled } from './place.ts';

export interface ToolRunnerOptions {
  readonly tools: readonly Tool[];
  readonly sandbox: Pick<Sandbox, 'open'>;
}

export class ToolRunner {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #sandbox: ToolContext['sandbox'];

  constructor({ tools, sandbox }: ToolRunnerOptions) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#sandbox = sandbox;
  }

  /**
   * Makes calls of one tool, and resolves when all of them have ended, however long the tool ignores
   * that nobody waits. A batch that fails as a whole is made again call by call, so that one call
   * takes none along.
   *
   * @param onSettled hears of each end as soon as it is known, once for each call
   */
  async run(name: string, calls: readonly PlacedCall[], onSettled: OnSettled): Promise<void> {
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      const fault = new CallFault('unavailable', `There is no tool ${name} here.`);
      for (const index of calls.keys()) onSettled(index, { fault });
      return;
    }
    const together = calls.length > 1 ? await this.#together(tool, calls) : undefined;
    if (together !== undefined) {
      for (const [index, settled] of together.entries()) onSettled(index, settled);
      return;
    }
    await Promise.all(
      calls.map(async (call, index) => onSettled(index, await this.#alone(tool, call))),
    );
  }

  async #alone(tool: Tool, call: PlacedCall): Promise<Settled> {
    try {
      call.signal.throwIfAborted();
      return { outcome: await tool.call(call.given, this.#contextOf(call)) };
    } catch (error) {
      return { fault: faultOf(error, call.signal) };
    }
  }

  /** Undefined where the calls have to be made one by one. */
  async #together(
    tool: Tool,
    calls: readonly PlacedCall[],
  ): Promise<readonly Settled[] | undefined> {
    if (tool.callBatch === undefined) return undefined;
    try {
      const outcomes: unknown = await tool.callBatch(
        calls.map((call) => ({ given: call.given, context: this.#contextOf(call) })),
      );
      if (!Array.isArray(outcomes) || outcomes.length !== calls.length) return undefined;
      return outcomes.map((outcome) => ({ outcome }));
    } catch {
      return undefined;
    }
  }

  #contextOf({ images, signal }: PlacedCall): ToolContext {
    return { images, signal, sandbox: this.#sandbox };
  }
}

/** Why a call ended: because nobody waits any more, or by the error it threw. */
export function faultOf(error: unknown, signal: AbortSignal): CallFault {
  if (signal.aborted) return reasonOf(signal);
  if (error instanceof CallFault) return error;
  return new CallFault('failed', messageOf(error), { cause: error });
}

/** The reason of a call's signal. */
export function reasonOf({ reason }: AbortSignal): CallFault {
  if (reason instanceof CallFault) return reason;
  return new CallFault('left', messageOf(reason), { cause: reason });
}
