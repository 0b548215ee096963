/** Expectations of checks, and their messages when one fails. */
import { firstDifference } from '../compare.ts';
import { ContractError } from '../contract-error.ts';

/** @throws ContractError naming the first element that differs in a bit */
export function expectSame(
  what: string,
  got: ArrayLike<number>,
  expected: ArrayLike<number>,
): void {
  const at = firstDifference(got, expected);
  if (at < 0) return;
  throw new ContractError(
    `${what}: element ${at} of ${got.length} is ${got[at]}; ` +
      `expected ${expected[at]} of ${expected.length}.`,
  );
}

/**
 * Expects an action to throw or reject.
 *
 * @throws ContractError if it does neither, or with another kind of error or message
 */
export async function expectError(
  what: string,
  action: () => unknown,
  kind: abstract new (...parts: never[]) => Error,
  message: RegExp = /./,
): Promise<void> {
  const wanted = `${kind.name}${message.source === '.' ? '' : ` like ${message}`}`;
  try {
    await action();
  } catch (error) {
    if (error instanceof kind && message.test(error.message)) return;
    throw new ContractError(`${what}: expected ${wanted}, got "${error}".`, { cause: error });
  }
  throw new ContractError(`${what}: expected ${wanted}, got no error.`);
}
