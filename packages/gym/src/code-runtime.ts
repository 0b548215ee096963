/** The Python session that a protocol wants, beyond what every sandbox gives. */
import type { CaptureOptions, RepairOptions } from '@saccade/sandbox';

/**
 * How the Python session of a protocol behaves: whether variables persist, which names exist,
 * which images come back, and which mistakes are repaired.
 */
export interface CodeRuntime {
  /** Whether variables stay from turn to turn; if not, every execution has a session of its own. */
  readonly keepsVariables: boolean;
  /**
   * How variables are handled after code that failed. `keep`: partial changes stay; after code that
   * killed its interpreter the next execution starts in a fresh session. `reset`: the next
   * execution starts in a fresh session. `rollBack`: it starts from the state after the last
   * success, whatever the failure was.
   */
  readonly afterFailure: 'keep' | 'reset' | 'rollBack';
  /**
   * Python run in a new session, before the model's code.
   *
   * @param images names of the prompt's images, which are variables of the session
   */
  setUp?(images: readonly string[]): string;
  /** The code to run in place of the model's; line numbers must stay the same. */
  rewrite?(code: string): string;
  /**
   * The output that executions return besides what the code shows, and the images kept. Default:
   * nothing more, and all images.
   *
   * @param images names of the prompt's images
   */
  capture?(images: readonly string[]): CaptureOptions;
  /** Mistakes that are repaired and recorded in the outcome. Default: none. */
  readonly repairs?: RepairOptions;
}
