/** Requests to a simulated engine, and where they stand. */

/** A request: tokens to compute, then tokens to sample. */
export interface EngineRequest {
  readonly prefillTokens: number;
  /** At least 1. */
  readonly decodeTokens: number;
  /** Called when its first token is about to be sampled. */
  readonly onBegin: () => void;
  readonly onEnd: () => void;
}

/** A request in the engine; `decodeTokens` of it are sampled once `finish` is reached. */
export interface EngineJob extends EngineRequest {
  finish: number;
  state: 'waiting' | 'prefill' | 'decode' | 'over';
}
