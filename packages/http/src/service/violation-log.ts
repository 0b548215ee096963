/**
 * Reports violations as events: the first at once, then at most one per client and rule in a while.
 */
import type { EventSink } from '@saccade/core';
import type { Rule } from './refusal.ts';

export interface Violation {
  readonly client: string;
  readonly rule: Rule;
  /** The request, for example `POST /run_code`. */
  readonly request: string;
  readonly detail: string;
}

export interface ViolationLogOptions {
  readonly service: string;
  readonly onEvent: EventSink;
  /** Repeated violations within this time are one event with a count. Default 10. */
  readonly quietSeconds?: number;
}

/** Most pairs of client and rule that are remembered. */
const KEPT = 1000;

export class ViolationLog {
  readonly #options: ViolationLogOptions;
  readonly #recent = new Map<string, { at: number; count: number }>();

  constructor(options: ViolationLogOptions) {
    this.#options = options;
  }

  /** @param now  milliseconds of a monotonic clock */
  report({ client, rule, request, detail }: Violation, now: number): void {
    const { service, onEvent, quietSeconds = 10 } = this.#options;
    const key = `${rule} ${client}`;
    const known = this.#recent.get(key);
    if (known !== undefined && now - known.at < quietSeconds * 1000) {
      known.count += 1;
      return;
    }
    this.#recent.delete(key);
    this.#recent.set(key, { at: now, count: 0 });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > KEPT && oldest !== undefined) this.#recent.delete(oldest);
    const count = 1 + (known?.count ?? 0);
    onEvent({ kind: 'violation', service, client, rule, request, detail, count });
  }
}
