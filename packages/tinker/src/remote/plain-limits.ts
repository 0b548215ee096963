/** What plain Tinker cannot say, and what stands in its place. */
import type { Scores } from '@saccade/policy';
import { TinkerError } from '../wire/tinker-error.ts';

/**
 * Scores with −logprob in the place of entropies: of sampled tokens its mean is the entropy. For
 * metrics alone, since its gradient is not the entropy's.
 */
export function estimated(logprobs: Float32Array): Scores {
  return { logprobs, entropy: logprobs.map((logprob) => -logprob) };
}

/** @throws TinkerError for any temperature but 1 */
export function expectPlainTemperature(temperature: number): void {
  if (temperature === 1) return;
  throw unfit('rl.temperature', `the run scores at temperature ${temperature}`);
}

/** The error of a need that plain Tinker has no word for. */
export function unfit(field: string, need: string): TinkerError {
  return new TinkerError(
    'user',
    `${field}: ${need}, and this server has no word for it. Use a server with the extension ` +
      'saccade/1 (saccade serve learner, or the worker of Saccade), or another algorithm.',
    { code: 'unfit', field },
  );
}
