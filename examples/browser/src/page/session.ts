/** One run as the page sees it: a worker, its state, and everything it has told so far. */
import type { RunEvent, ShownGroup, Stage } from '../training/run.ts';
import type { Fault, Reply, Request, StartRequest } from './messages.ts';

export type SessionState = 'idle' | 'running' | 'paused' | 'finished' | 'failed';

type StepEvent = Extract<RunEvent, { kind: 'step' }>;
type Evaluation = Extract<RunEvent, { kind: 'evaluation' }>;

/** The events that a run has reported so far. */
export interface History {
  readonly coldStart: StepEvent[];
  readonly reinforcement: StepEvent[];
  readonly evaluations: Evaluation[];
  progress: { readonly stage: Stage; readonly done: number; readonly total: number } | undefined;
  /** The newest groups, and the RL step they belong to. */
  shown: { readonly step: number; readonly groups: readonly ShownGroup[] } | undefined;
  started: { readonly device: string; readonly parameters: number } | undefined;
  fault: Fault | undefined;
}

function emptyHistory(): History {
  return {
    coldStart: [],
    reinforcement: [],
    evaluations: [],
    progress: undefined,
    shown: undefined,
    started: undefined,
    fault: undefined,
  };
}

export class Session {
  state: SessionState = 'idle';
  history: History = emptyHistory();
  readonly #onChange: () => void;
  #worker: Worker | undefined;
  /** Milliseconds of earlier stretches, and when the present one began. */
  #ranBefore = 0;
  #runsSince: number | undefined;
  /** Where the present stage stood when it was first heard of at work, and the clock then. */
  #pace: { readonly stage: Stage; readonly done: number; readonly seconds: number } | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Seconds of running, pauses left out. */
  get seconds(): number {
    const now = this.#runsSince === undefined ? 0 : performance.now() - this.#runsSince;
    return (this.#ranBefore + now) / 1000;
  }

  /** Seconds until the present stage is over, at its pace so far; undefined as long as it has none. */
  get secondsLeft(): number | undefined {
    const { progress } = this.history;
    if (progress === undefined || this.#pace?.stage !== progress.stage) return undefined;
    const done = progress.done - this.#pace.done;
    if (done <= 0) return undefined;
    return ((this.seconds - this.#pace.seconds) / done) * (progress.total - progress.done);
  }

  start(request: Omit<StartRequest, 'kind'>): void {
    this.reset();
    const worker = new Worker(new URL('../worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#take(data);
    worker.onerror = (event) => {
      event.preventDefault();
      const message = event.message || 'The worker that trains could not be loaded.';
      this.#take({ kind: 'failed', fault: { code: 'unknown', message } });
    };
    this.#send({ kind: 'start', ...request });
    this.#enter('running');
  }

  pause(): void {
    if (this.state !== 'running') return;
    this.#send({ kind: 'pause' });
    this.#enter('paused');
  }

  resume(): void {
    if (this.state !== 'paused') return;
    this.#send({ kind: 'resume' });
    this.#enter('running');
  }

  /** Ends the worker; with it go its device and all its memory. */
  reset(): void {
    this.#end();
    this.history = emptyHistory();
    this.#ranBefore = 0;
    this.#pace = undefined;
    this.#enter('idle');
  }

  #send(request: Request): void {
    this.#worker?.postMessage(request);
  }

  #take(reply: Reply): void {
    const { history } = this;
    if (reply.kind === 'step') {
      history[reply.stage === 'cold start' ? 'coldStart' : 'reinforcement'].push(reply);
    } else if (reply.kind === 'evaluation') history.evaluations.push(reply);
    else if (reply.kind === 'progress') this.#advance(reply);
    else if (reply.kind === 'trajectories') history.shown = reply;
    else if (reply.kind === 'started') history.started = reply;
    else {
      if (reply.kind === 'failed') history.fault = reply.fault;
      this.#end();
      this.#enter(reply.kind);
      return;
    }
    this.#onChange();
  }

  #advance(progress: NonNullable<History['progress']>): void {
    const { stage, done } = progress;
    this.history.progress = progress;
    // What comes before the first update, such as compiling, says nothing about the next ones.
    if (done > 0 && this.#pace?.stage !== stage) {
      this.#pace = { stage, done, seconds: this.seconds };
    }
  }

  #end(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #enter(state: SessionState): void {
    const now = performance.now();
    if (this.#runsSince !== undefined) this.#ranBefore += now - this.#runsSince;
    this.#runsSince = state === 'running' ? now : undefined;
    if (state === 'idle') this.#ranBefore = 0;
    this.state = state;
    this.#onChange();
  }
}
