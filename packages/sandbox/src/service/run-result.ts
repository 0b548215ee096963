/** How a run ended, in the fields of SandboxFusion's protocol. */
import type { Outcome } from '../outcome.ts';
import { returnCodeOf, standardErrorOf } from './script.ts';

/** The end of a run: of a program, or of all cells of a notebook. */
export interface RunResult {
  readonly status: 'Finished' | 'TimeLimitExceeded' | 'Error';
  /** Seconds. */
  readonly execution_time: number;
  /** Null if the time ran out. */
  readonly return_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The outcome of an execution as the result of a run. */
export function runResultOf(outcome: Outcome): RunResult {
  const isLate = outcome.kind === 'timeout';
  return {
    status: isLate ? 'TimeLimitExceeded' : 'Finished',
    execution_time: outcome.wallMs / 1000,
    return_code: isLate ? null : returnCodeOf(outcome),
    stdout: outcome.stdout,
    stderr: isLate ? outcome.stderr : standardErrorOf(outcome),
  };
}
