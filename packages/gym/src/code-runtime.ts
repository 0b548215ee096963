/** What a protocol's code finds in its session and leaves there, beyond what every sandbox gives. */
import type { CaptureOptions, RepairOptions } from '@saccade/sandbox';

export interface CodeRuntime {
  /** Whether variables stay from turn to turn; if not, every execution has a session of its own. */
  readonly keepsVariables: boolean;
  /**
   * What becomes of the variables after code that failed. `keep`: partial changes stay, but code that
   * killed its interpreter has the next start anew. `reset`: the next execution starts anew.
   * `rollBack`: it starts where the last success ended, whatever the failure was.
   */
  readonly afterFailure: 'keep' | 'reset' | 'rollBack';
  /**
   * Python run in a new session, before the model's code.
   *
   * @param images names of the prompt's images, which are variables of the session
   */
  setUp?(images: readonly string[]): string;
  /** The model's code as it is run; lines must stay where they are. */
  rewrite?(code: string): string;
  /**
   * What its executions return besides what the code shows, and which images are kept; nothing more
   * and all of them by default.
   *
   * @param images names of the prompt's images
   */
  capture?(images: readonly string[]): CaptureOptions;
  /** Mistakes that are put right, and recorded in the outcome; none by default. */
  readonly repairs?: RepairOptions;
}
