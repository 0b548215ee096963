/** What a step used beside tokens: publishing, requests, sandbox sessions, executions, processors. */

/** Work that is counted: each with its seconds. */
export type MeteredWork = 'publish' | 'request' | 'open' | 'execute';

/** What a run has used since it began, in seconds. */
export interface ProcessUsage {
  /** In which JavaScript ran. */
  readonly mainThread: number;
  /** Of all processors together. */
  readonly processors: number;
  /** Of all processors, by the processes of the sandbox; absent where that is not known. */
  readonly sandbox?: number;
}

interface Sum {
  count: number;
  seconds: number;
  processorSeconds: number;
}

/** Counts work from one step to the next; the parts of a run report to it. */
export class WorkMeter {
  readonly #usage: (() => ProcessUsage) | undefined;
  #sums = new Map<MeteredWork, Sum>();

  /** @param usage of this process; without it, processors are not counted */
  constructor(usage?: () => ProcessUsage) {
    this.#usage = usage;
  }

  add(work: MeteredWork, seconds: number, processorSeconds = 0): void {
    const sum = this.#sums.get(work) ?? { count: 0, seconds: 0, processorSeconds: 0 };
    sum.count++;
    sum.seconds += seconds;
    sum.processorSeconds += processorSeconds;
    this.#sums.set(work, sum);
  }

  /** Counts the seconds of work that succeeds. */
  async timed<Result>(work: MeteredWork, run: () => Promise<Result>): Promise<Result> {
    const start = performance.now();
    const result = await run();
    this.add(work, (performance.now() - start) / 1000);
    return result;
  }

  /** Begins to count what this process uses in a phase; the function that it gives ends it. */
  phase(name: string): () => Record<string, number> {
    const before = this.#usage?.();
    return () => {
      const after = this.#usage?.();
      if (before === undefined || after === undefined) return {};
      return {
        [`time/main_thread/${name}`]: after.mainThread - before.mainThread,
        [`time/processors/${name}`]: after.processors - before.processors,
        ...(before.sandbox !== undefined &&
          after.sandbox !== undefined && {
            [`time/sandbox_processors/${name}`]: after.sandbox - before.sandbox,
          }),
      };
    };
  }

  /** The metrics of what was counted, and begins anew. */
  take(): Record<string, number> {
    const sums = this.#sums;
    this.#sums = new Map();
    const { publish, request, open, execute } = Object.fromEntries(sums) as Partial<
      Record<MeteredWork, Sum>
    >;
    return {
      ...(publish && { 'time/publish': publish.seconds }),
      ...(request && {
        'throughput/requests': request.count,
        'time/request': request.seconds / request.count,
      }),
      ...(open && {
        'throughput/sessions': open.count,
        'time/session_open': open.seconds / open.count,
      }),
      ...(execute && {
        'throughput/executions': execute.count,
        'time/execution': execute.seconds / execute.count,
        'time/execution_processor': execute.processorSeconds / execute.count,
      }),
    };
  }
}
