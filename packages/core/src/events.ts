/** Typed run events: what happened, as data. A sink is a function; nothing prints by itself. */

export type RunEvent =
  /** A stage of the run began or moved on; `total` is absent where the end is not known. */
  | {
      readonly kind: 'progress';
      readonly stage: string;
      readonly done: number;
      readonly total?: number;
      readonly note?: string;
    }
  /** One row of metrics, names as in TRL where TRL has them. */
  | {
      readonly kind: 'metrics';
      readonly step: number;
      readonly values: Readonly<Record<string, number>>;
    }
  /** A device could not run an op natively and another path ran instead. */
  | {
      readonly kind: 'fallback';
      readonly op: string;
      readonly from: string;
      readonly to: string;
      readonly reason: string;
    }
  /** A client of a service broke a rule: who, which rule, what it asked. */
  | {
      readonly kind: 'violation';
      readonly service: string;
      /** Address of the client. */
      readonly client: string;
      readonly rule: string;
      /** E.g. `POST /run_code`; empty where no request could be read. */
      readonly request: string;
      readonly detail: string;
      /** Violations of this rule by this client since the event before. */
      readonly count: number;
    }
  /** Something a person should know that does not stop the run. */
  | { readonly kind: 'warning'; readonly message: string };

/**
 * Receives the events of a run, one call each, in order. The run does not wait for it, so a sink
 * that writes slowly has to queue by itself.
 */
export type EventSink = (event: RunEvent) => void;

/** Combines sinks into one that passes every event to each of them, in order. */
export function joinSinks(...sinks: readonly EventSink[]): EventSink {
  return (event) => {
    for (const sink of sinks) sink(event);
  };
}
