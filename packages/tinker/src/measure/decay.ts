/** Whether weight decay reaches the weights of a model, and of no other model on the server. */
import { plainAdam } from '../client/tinker-model.ts';
import type { Finding } from './measurement.ts';
import type { Channel, Probe, ProbeRow } from './probe.ts';

/** What steps with weight decay showed. */
export interface Decay {
  readonly isHonored: boolean;
  /** Unset where the server had no room for a second model. */
  readonly areModelsApart?: boolean;
  readonly findings: readonly Finding[];
}

export interface DecayOptions {
  readonly probe: Probe;
  /** Another model of the server. Its weights must not move; where they do, those of others do too. */
  readonly bystander: Probe | undefined;
  readonly row: ProbeRow;
  readonly weights: Float32Array;
  readonly channel: Channel;
  /** Leaves a gradient of 0, which a step needs. */
  readonly nothing: () => Promise<void>;
}

/** Tried first: models of other people may be there, and lose as much if they are not apart. */
const GENTLE = 0.01;
const STRONG = 0.5;
/** A rate at which the other model learns something that decay can take from it. */
const RATE = 1e-3;

/** Takes steps without a gradient, with weight decay and without. */
export async function measureDecay(options: DecayOptions): Promise<Decay> {
  const { probe, bystander, row, weights, channel, nothing } = options;
  if (bystander !== undefined) {
    await bystander.ascend([[row, weights]], channel);
    await bystander.move(row, weights, channel, { learning_rate: RATE });
  }
  const scoreOther = async () => await bystander?.logprobs(row, channel);
  // A large ε keeps what rounding leaves of a gradient from being taken for one.
  const step = async (learning_rate: number, weight_decay: number) => {
    await nothing();
    const before = await scoreOther();
    const adam = { ...plainAdam, learning_rate, beta1: 0, eps: 1, weight_decay };
    const { most } = await probe.move(row, weights, channel, adam);
    return { own: most, other: largest(before, await scoreOther()) };
  };
  const kept = await step(STRONG, 0);
  const gentle = await step(GENTLE, 1);
  const isSpread = gentle.other > Math.max(10 * kept.other, 0.05 * gentle.own);
  const [decayed, words] = isSpread
    ? [gentle, 'a hundredth less']
    : [await step(STRONG, 1), 'halved'];
  const isHonored = decayed.own > 10 * kept.own;
  const findings: Finding[] = [
    {
      name: 'weight_decay',
      isGood: isHonored,
      detail: `weights kept moved log-probs ${kept.own}, ${words} ${decayed.own}`,
    },
  ];
  if (bystander === undefined) return { isHonored, findings };
  const areModelsApart =
    !isSpread && decayed.other <= Math.max(10 * kept.other, 0.05 * decayed.own);
  findings.push({
    name: 'models apart',
    isGood: areModelsApart,
    detail:
      `a step with weight decay moved another model’s log-probs ${decayed.other}, ` +
      `its own ${decayed.own}; expected 0 of the other`,
  });
  return { isHonored, areModelsApart, findings };
}

function largest(one: Float32Array | undefined, other: Float32Array | undefined): number {
  if (one === undefined || other === undefined) return 0;
  return Math.max(...one.map((logprob, i) => Math.abs(logprob - (other[i] as number))));
}
