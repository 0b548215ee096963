/**
 * Spans: named pieces of work whose time is counted while a trace is on. Without one a span is one
 * comparison.
 *
 * Every moment of the clock is counted once: for the innermost span that JavaScript is in; else in
 * equal parts for the work that is known to go on elsewhere; else for waiting. So the seconds of all
 * spans add up to those of the clock, however many rollouts there are at a time.
 */
import { StateError } from './errors.ts';
import type { Profile, ProfiledSpan, SpanKind } from './profile.ts';

/** Options of `startTrace`. */
export interface TraceOptions {
  /** Milliseconds, monotonic. Default `performance.now`. */
  readonly now?: () => number;
  /**
   * Milliseconds in which the event loop was not idle. With it JavaScript outside of all spans has a
   * row of its own; without it, it counts as waiting. In Node:
   * `() => performance.eventLoopUtilization().active`.
   */
  readonly active?: () => number;
}

/** A trace that is on. */
export interface Trace {
  /** Ends it, and gives what it has counted. What is under way counts until now. */
  finish(): Profile;
}

let current: Tracer | undefined;

/** Whether a trace is on: for names that take work to make. */
export function isTracing(): boolean {
  return current !== undefined;
}

/**
 * Starts to count spans, in all packages of this process.
 *
 * @throws StateError if a trace is on: the two would count each other's work
 */
export function startTrace(options: TraceOptions = {}): Trace {
  if (current !== undefined) {
    throw new StateError('A trace is on already. Finish it before starting another.');
  }
  const tracer = new Tracer(options);
  current = tracer;
  return {
    finish() {
      if (current === tracer) current = undefined;
      return tracer.profile();
    },
  };
}

/**
 * Synchronous work under a name. Of a promise that `work` returns only its making counts.
 *
 * @param name  before a slash its group: `images/resize`
 */
export function span<Result>(name: string, work: () => Result): Result {
  return current === undefined ? work() : current.span(name, work);
}

/** Work that goes on in another process or thread until the promise settles, under a name. */
export function spanElsewhere<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return current === undefined ? work() : current.elsewhere(name, work);
}

/** How a stage goes about its work. */
export interface StageOptions {
  /**
   * Whether parts of it that are stages themselves run at the same time, such as learning beside
   * rollouts. Then they are not told apart. Default false.
   */
  readonly isConcurrent?: boolean;
  /** What JavaScript outside of all spans counts as. Default `other JavaScript/<the stage's name>`. */
  readonly rest?: string;
}

/** A part of a run that comes before or after others, with everything that happens meanwhile. */
export function stage<Result>(
  name: string,
  work: () => Promise<Result>,
  options: StageOptions = {},
): Promise<Result> {
  return current === undefined ? work() : current.stage(name, work, options);
}

class Node {
  readonly name: string;
  readonly kind: SpanKind;
  readonly children = new Map<string, Node>();
  /** Milliseconds of its own. */
  own = 0;
  count = 0;
  inFlight = 0;
  /** Of a stage: milliseconds in which the event loop was not idle, its inner stages left out. */
  active = 0;
  isConcurrent = false;
  rest: string | undefined;

  constructor(name: string, kind: SpanKind) {
    this.name = name;
    this.kind = kind;
  }

  child(name: string, kind: SpanKind): Node {
    let child = this.children.get(name);
    if (child === undefined) {
      child = new Node(name, kind);
      this.children.set(name, child);
    }
    return child;
  }
}

class Tracer {
  readonly #now: () => number;
  readonly #active: (() => number) | undefined;
  readonly #root = new Node('run', 'stage');
  readonly #start: number;
  /** Stages that are open, the innermost last. */
  #stages: Node[] = [this.#root];
  /** The innermost span that JavaScript is in, if it is in one. */
  #top: Node | undefined;
  /** What goes on elsewhere, and how many of each. */
  readonly #others = new Map<Node, number>();
  #otherCount = 0;
  /** Until when time has been counted. */
  #at: number;
  #activeAt: number;

  constructor({ now = () => performance.now(), active }: TraceOptions) {
    this.#now = now;
    this.#active = active;
    this.#root.count = 1;
    this.#start = now();
    this.#at = this.#start;
    this.#activeAt = active?.() ?? 0;
  }

  get #stage(): Node {
    return this.#stages.at(-1) ?? this.#root;
  }

  span<Result>(name: string, work: () => Result): Result {
    const outer = this.#top;
    const node = (outer ?? this.#stage).child(name, 'work');
    this.#advance();
    node.count++;
    this.#top = node;
    try {
      return work();
    } finally {
      this.#advance();
      this.#top = outer;
    }
  }

  async elsewhere<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const node = this.#stage.child(name, 'elsewhere');
    this.#advance();
    const start = this.#at;
    node.count++;
    this.#others.set(node, (this.#others.get(node) ?? 0) + 1);
    this.#otherCount++;
    try {
      return await work();
    } finally {
      this.#advance();
      node.inFlight += this.#at - start;
      const left = (this.#others.get(node) ?? 1) - 1;
      if (left === 0) this.#others.delete(node);
      else this.#others.set(node, left);
      this.#otherCount--;
    }
  }

  async stage<Result>(
    name: string,
    work: () => Promise<Result>,
    { isConcurrent = false, rest }: StageOptions,
  ): Promise<Result> {
    if (this.#stage.isConcurrent) return await work();
    const node = this.#stage.child(name, 'stage');
    this.#turnTo(() => {
      node.count++;
      node.isConcurrent = isConcurrent;
      node.rest = rest;
      this.#stages.push(node);
    });
    try {
      return await work();
    } finally {
      this.#turnTo(() => {
        this.#stages = this.#stages.filter((open) => open !== node);
      });
    }
  }

  profile(): Profile {
    this.#turnTo(() => {});
    const seconds = (this.#at - this.#start) / 1000;
    return { seconds, root: profiled(this.#root, this.#active !== undefined) };
  }

  /** Changes the stage; what came before is counted for the stage before. */
  #turnTo(change: () => void): void {
    this.#advance();
    const active = this.#active?.() ?? 0;
    this.#stage.active += active - this.#activeAt;
    this.#activeAt = active;
    change();
  }

  /** Counts the time since the last call for what went on in it. */
  #advance(): void {
    const now = this.#now();
    const passed = now - this.#at;
    this.#at = now;
    if (this.#top !== undefined) {
      this.#top.own += passed;
      return;
    }
    if (this.#otherCount === 0) {
      this.#stage.own += passed;
      return;
    }
    const each = passed / this.#otherCount;
    for (const [node, count] of this.#others) node.own += each * count;
  }
}

/** The span of a node; a stage's own time as what it was. */
function profiled(node: Node, knowsActive: boolean): ProfiledSpan {
  const { name, kind, count } = node;
  const inner = [...node.children.values()];
  const spans = inner.map((child) => profiled(child, knowsActive));
  if (kind !== 'stage') {
    const inFlight = kind === 'elsewhere' ? { inFlightSeconds: node.inFlight / 1000 } : {};
    return { name, kind, seconds: node.own / 1000, count, ...inFlight, spans };
  }
  // JavaScript was busy for longer than its spans last: the rest is taken from what counted as
  // elsewhere or as waiting, in equal shares.
  const work = inner.reduce((sum, child) => sum + (child.kind === 'work' ? whole(child) : 0), 0);
  const elsewhere = inner.reduce((sum, one) => sum + (one.kind === 'elsewhere' ? one.own : 0), 0);
  const idle = elsewhere + node.own;
  const other = knowsActive ? Math.min(idle, Math.max(0, node.active - work)) : 0;
  const left = idle > 0 ? (idle - other) / idle : 1;
  return {
    ...{ name, kind, seconds: 0, count },
    spans: [
      ...spans.map((one) =>
        one.kind === 'elsewhere' ? { ...one, seconds: one.seconds * left } : one,
      ),
      ...leaf(node.rest ?? `other JavaScript/${name}`, 'work', other),
      ...leaf(`waiting/${name}`, 'wait', node.own * left),
    ],
  };
}

function leaf(name: string, kind: SpanKind, milliseconds: number): readonly ProfiledSpan[] {
  const one = { name, kind, seconds: milliseconds / 1000, count: 0, spans: [] };
  return milliseconds > 0 ? [one] : [];
}

function whole(node: Node): number {
  let sum = node.own;
  for (const child of node.children.values()) sum += whole(child);
  return sum;
}
