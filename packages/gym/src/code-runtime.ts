/** What a protocol's code finds in its session and leaves there, beyond what every sandbox gives. */
import type { Outcome, RepairOptions } from '@saccade/sandbox';

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
   * @param pictures names of the prompt's pictures, which are variables of the session
   */
  setUp?(pictures: readonly string[]): string;
  /** The model's code as it is run; lines must stay where they are. */
  rewrite?(code: string): string;
  /** Python that shows what the code left behind, run if the code ended without error. */
  collect?(outcome: Outcome, pictures: readonly string[]): string | undefined;
  /** Mistakes that are put right, and recorded in the outcome; none by default. */
  readonly repairs?: RepairOptions;
  /** Pictures of one execution at most; later ones are dropped. */
  readonly mostImages?: number;
}
