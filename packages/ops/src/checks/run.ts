/** Runs checks where there is no test runner: in a page, in a script. */
import { type DeviceCheck, type Subject, whyNot } from './check.ts';

/** How a check ended. */
export interface CheckResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** The fault, or what the backend lacks. */
  readonly message?: string;
  readonly milliseconds: number;
}

/** Runs checks one after the other and gives each result as soon as it is there; never throws. */
export async function* runChecks(
  checks: readonly DeviceCheck[],
  subject: Subject,
): AsyncGenerator<CheckResult, void> {
  for (const check of checks) {
    const { name } = check;
    const start = performance.now();
    const reason = whyNot(check, subject.device.backend);
    if (reason !== undefined) {
      yield { name, outcome: 'skipped', message: reason, milliseconds: 0 };
      continue;
    }
    const failure = await check.run(subject).then(
      () => undefined,
      (error: unknown) => ({ message: error instanceof Error ? describe(error) : String(error) }),
    );
    const milliseconds = Math.round(performance.now() - start);
    yield failure === undefined
      ? { name, outcome: 'passed', milliseconds }
      : { name, outcome: 'failed', ...failure, milliseconds };
  }
}

/** The stack, with the message at its top in every engine. */
function describe(error: Error): string {
  const { message, stack = '' } = error;
  return stack.includes(message) ? stack : `${message}\n${stack}`;
}
