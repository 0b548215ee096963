/** Run events as lines for people: one updating line on a terminal, a few plain lines in a pipe. */
import type { EventSink, RunEvent } from '@saccade/core';

/** Where lines go; `process.stderr` is one. */
interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface TerminalProgressOptions {
  readonly stream: ProgressStream;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** Metrics worth a place on the line, with their short names, most telling first. */
const SHOWN: readonly (readonly [string, string])[] = [
  ['accuracy', 'accuracy'],
  ['reward', 'reward'],
  ['eval/accuracy', 'accuracy'],
  ['tool_calls/mean', 'tool calls'],
  ['eval/tool_calls/mean', 'tool calls'],
  ['entropy', 'entropy'],
  ['broken/ratio', 'broken'],
  ['loss', 'loss'],
];

/** `1 h 05 min`, `3 min 20 s`, `12 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

function formatNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 0.01 ? value.toExponential(1) : value.toFixed(3);
}

function describeMetrics(values: Readonly<Record<string, number>>): string {
  return SHOWN.filter(([name]) => values[name] !== undefined && !isMeaningless(name, values))
    .map(([name, short]) => `${short} ${formatNumber(values[name] as number)}`)
    .join('  ');
}

/** The surrogate's value is about 0 on-policy whatever happens, so it is not shown. */
function isMeaningless(name: string, values: Readonly<Record<string, number>>): boolean {
  return name === 'loss' && values.reward !== undefined;
}

interface StageClock {
  readonly stage: string;
  /** Progress when the clock started: a resumed stage does not start at 0. */
  readonly startedFrom: number;
  /** When it started, moved on by the time in which another stage was running. */
  startedAt: number;
  lastAt: number;
}

/** Keeps what the line shows: stage, how far, time left, last metrics. */
class ProgressLine {
  private readonly stream: ProgressStream;
  private readonly now: () => number;
  /** A stage is interrupted by others: learning by evaluations. */
  private readonly clocks = new Map<string, StageClock>();
  private clock: StageClock | undefined;
  private metrics = '';
  /** Whether `metrics` came after the last line, and so belongs to the stage now beginning. */
  private areMetricsNew = false;
  private isOpen = false;
  private nextShare = 0;

  constructor(stream: ProgressStream, now: () => number) {
    this.stream = stream;
    this.now = now;
  }

  onProgress(event: RunEvent & { kind: 'progress' }): void {
    if (this.clock?.stage !== event.stage) {
      this.closeLine();
      this.clock = this.startClock(event.stage, event.done);
      if (!this.areMetricsNew) this.metrics = '';
      this.nextShare = 0;
    }
    this.clock.lastAt = this.now();
    this.areMetricsNew = false;
    const isLast = event.total === undefined ? event.done > 0 : event.done >= event.total;
    if (this.stream.isTTY === true) {
      this.drawLine(this.describe(event, this.clock));
      if (isLast) this.closeLine();
      return;
    }
    const share = event.total === undefined ? 0 : event.done / Math.max(1, event.total);
    if (!isLast && share < this.nextShare) return;
    this.nextShare = (Math.floor(share * 20 + 1e-9) + 1) / 20;
    this.stream.write(`${this.describe(event, this.clock)}\n`);
  }

  /** A new clock, or that of an interrupted stage without the time the other stage took. */
  private startClock(stage: string, done: number): StageClock {
    const now = this.now();
    const before = this.clock?.lastAt ?? now;
    const known = this.clocks.get(stage);
    const clock = known ?? { stage, startedFrom: done, startedAt: now, lastAt: now };
    if (known !== undefined) known.startedAt += before - known.lastAt;
    this.clocks.set(stage, clock);
    return clock;
  }

  onMetrics(values: Readonly<Record<string, number>>): void {
    this.metrics = describeMetrics(values);
    this.areMetricsNew = true;
  }

  onMessage(text: string): void {
    this.closeLine();
    this.stream.write(`${text}\n`);
  }

  private describe(event: RunEvent & { kind: 'progress' }, clock: StageClock): string {
    const parts = [event.stage.padEnd(16)];
    const elapsed = (this.now() - clock.startedAt) / 1000;
    if (event.total !== undefined) {
      const width = String(event.total).length;
      parts.push(`${String(event.done).padStart(width)}/${event.total}`);
      const done = event.done - clock.startedFrom;
      if (event.done >= event.total) parts.push(`in ${formatDuration(elapsed)}`);
      else if (done > 0) {
        parts.push(`${formatDuration((elapsed / done) * (event.total - event.done))} left`);
      }
    }
    if (event.note !== undefined) parts.push(event.note);
    if (this.metrics !== '') parts.push(this.metrics);
    return parts.join('  ').trimEnd();
  }

  private drawLine(text: string): void {
    const columns = this.stream.columns ?? 80;
    const shown = text.length > columns - 1 ? `${text.slice(0, columns - 2)}…` : text;
    this.stream.write(`\r\u001b[K${shown}`);
    this.isOpen = true;
  }

  private closeLine(): void {
    if (this.isOpen) this.stream.write('\n');
    this.isOpen = false;
  }
}

/** A sink that shows a run's progress on a stream. */
export function terminalProgress({
  stream,
  now = () => performance.now(),
}: TerminalProgressOptions): EventSink {
  const line = new ProgressLine(stream, now);
  const seenFallbacks = new Set<string>();
  return (event) => {
    switch (event.kind) {
      case 'progress':
        line.onProgress(event);
        return;
      case 'metrics':
        line.onMetrics(event.values);
        return;
      case 'warning':
        line.onMessage(`warning: ${event.message}`);
        return;
      case 'fallback': {
        const text = `${event.op} runs on ${event.to} instead of ${event.from}: ${event.reason}`;
        if (!seenFallbacks.has(text)) line.onMessage(`warning: ${text}`);
        seenFallbacks.add(text);
      }
    }
  };
}
