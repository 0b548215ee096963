/** Whether losses that a server names have the gradients that ours have. */
import type { LinearPath } from '../remote/gradient-path.ts';
import type { NamedLoss } from '../wire/schemas.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { ROW_LENGTH, weightsOf } from './linearity.ts';
import { type Channel, type Probe, probeRow } from './probe.ts';

/** The losses that are compared. */
export const comparedLosses: readonly NamedLoss[] = ['importance_sampling', 'ppo', 'cispo'];

/** Old log-probs beside those of the policy: within and beyond the usual bounds of clipping. */
const SHIFTS = [0.05, -0.1, 0.4, -0.5];
/** The bounds that servers clip a ratio to by default. */
const CLIPPED = { low: 0.8, high: 1.2 };

/**
 * ‖g(named) − g(ours)‖ / ‖g(named)‖: 0 where they are equal.
 *
 * @throws TinkerError if the server does not know the loss
 */
export async function namedResidual(
  probe: Probe,
  channel: Channel,
  path: LinearPath | undefined,
  vocabulary: number,
  loss: NamedLoss,
): Promise<number> {
  const row = probeRow(1, ROW_LENGTH, vocabulary);
  const advantages = weightsOf(row).map((value, i) => (i % 3 === 0 ? -value : value));
  const logprobs = await probe.logprobs(row, channel);
  const old = logprobs.map((logprob, i) => logprob + (SHIFTS[i % SHIFTS.length] ?? 0));
  const factor = path?.perToken ? ROW_LENGTH : 1;
  const bounds = { clip_low_threshold: CLIPPED.low, clip_high_threshold: CLIPPED.high };
  const config = loss === 'importance_sampling' ? undefined : bounds;
  await probe.named(loss, row, old, advantages, config);
  const whole = await probe.norm();
  const own = ownAscent(loss, logprobs, old, advantages);
  await probe.named(loss, row, old, advantages, config);
  await probe.ascend([[row, own.map((value) => -value * factor)]], channel);
  // A mean over the step is over two requests here.
  return ((path?.perStep ? 2 : 1) * (await probe.norm())) / whole;
}

/** The losses whose gradients are equal within a bound; those that a server does not know are not. */
export async function equalLosses(
  probe: Probe,
  channel: Channel,
  path: LinearPath | undefined,
  vocabulary: number,
  bound: number,
): Promise<readonly NamedLoss[]> {
  const equal: NamedLoss[] = [];
  for (const loss of comparedLosses) {
    try {
      const residual = await namedResidual(probe, channel, path, vocabulary, loss);
      if (residual <= bound) equal.push(loss);
    } catch (error) {
      if (!(error instanceof TinkerError) || error.isLoss) throw error;
    }
  }
  return equal;
}

/** −∂loss/∂logprob of the losses with names, as this package serves them. */
function ownAscent(
  loss: NamedLoss,
  logprobs: Float32Array,
  old: Float32Array,
  advantages: Float32Array,
): Float32Array {
  return logprobs.map((logprob, i) => {
    const advantage = advantages[i] as number;
    const ratio = Math.exp(logprob - (old[i] as number));
    const clipped = Math.min(Math.max(ratio, CLIPPED.low), CLIPPED.high);
    if (loss === 'cispo') return clipped * advantage;
    if (loss === 'ppo' && clipped * advantage < ratio * advantage) return 0;
    return ratio * advantage;
  });
}
