/** What a step does: its direction, its size, and whether fields of the optimizer have an effect. */
import { measureDecay } from './decay.ts';
import { ROW_LENGTH, weightsOf } from './linearity.ts';
import type { Finding } from './measurement.ts';
import { type Channel, type Probe, probeRow } from './probe.ts';

/** What steps on a scratch model showed. */
export interface Effects {
  /** Norm of the gradient that `measureLinearity` measured too, for another adapter. */
  readonly norm: number;
  readonly isDescent: boolean;
  /** Gradients come out times this; unset where it could not be measured. */
  readonly scale?: number;
  readonly ignoredFields: readonly string[];
  /** Whether steps of one model leave the others alone; unset where nobody looked. */
  readonly areModelsApart?: boolean;
  readonly findings: readonly Finding[];
}

/** A learning rate at which a step shows, and does no harm. */
const RATE = 1e-3;
/** The norm of a gradient that is small beside an ε of 1. */
const TINY = 1e-4;
/** How far the log-probs are to move, in nats, where a step's size is measured. */
const NUDGE = 0.02;

/** What steps are tried on. */
export interface EffectsOptions {
  /** A fresh scratch model. */
  readonly probe: Probe;
  /** Another one, which is to stay as it is; absent where the server has no room for it. */
  readonly bystander?: Probe;
  readonly channel: Channel;
  readonly vocabulary: number;
  /** Whether gradients cancel; else only the direction is looked at. */
  readonly isLinear: boolean;
  /** What is known to divide the gradient of a row. Default 1. */
  readonly divisor?: number;
}

/** Takes steps and looks at what they do to log-probs. */
export async function measureEffects(options: EffectsOptions): Promise<Effects> {
  const { probe, bystander, channel, vocabulary, isLinear, divisor = 1 } = options;
  const row = probeRow(1, ROW_LENGTH, vocabulary);
  const w = weightsOf(row);
  const minus = w.map((value) => -value);
  const findings: Finding[] = [];
  const ignoredFields: string[] = [];
  const up = () => probe.ascend([[row, w]], channel);
  /** A gradient of 0, which a step needs all the same. */
  const nothing = async () => {
    await up();
    await probe.ascend([[row, minus]], channel);
  };
  await up();
  const norm = await probe.norm();
  await up();
  const first = await probe.move(row, w, channel, { learning_rate: RATE });
  const isDescent = first.along > 0;
  findings.push({
    name: 'sign',
    isGood: isDescent,
    detail: `a step up moved Σ w·logprob by ${first.along.toPrecision(3)}, expected above 0`,
  });
  if (!isDescent || !isLinear) return { norm, isDescent, ignoredFields, findings };
  const field = (name: string, isHonored: boolean, detail: string): void => {
    findings.push({ name, isGood: isHonored, detail });
    if (!isHonored) ignoredFields.push(name);
  };
  await nothing();
  const rest = await probe.move(row, w, channel, { learning_rate: RATE, beta1: 0 });
  field('beta1', rest.most < 0.2 * first.most, `at 0 a step without a gradient moved ${rest.most}`);
  const decay = await measureDecay({ probe, bystander, row, weights: w, channel, nothing });
  findings.push(...decay.findings);
  if (!decay.isHonored) ignoredFields.push('weight_decay');
  const { areModelsApart } = decay;
  const found = { norm, isDescent, ignoredFields, findings };
  const known = { ...found, ...(areModelsApart !== undefined && { areModelsApart }) };
  // Where ε is large beside a gradient, Adam's step is lr/ε·g: its size tells that of the gradient.
  await up();
  const own = await probe.norm();
  const tiny = (share: number) => w.map((value) => (share * TINY * value) / own);
  const small = { learning_rate: NUDGE / (TINY * own), beta1: 0, beta2: 0, eps: 1 };
  const nudge = (share: number) => probe.ascend([[row, tiny(share)]], channel);
  await nudge(1);
  const nudged = await probe.move(row, w, channel, small);
  // A large gradient that the second moments remember, unless they may forget it.
  await up();
  await probe.norm();
  await nudge(1);
  const slowed = await probe.move(row, w, channel, { ...small, beta2: 0.999 });
  const ofMoments = slowed.along / nudged.along;
  field(
    'beta2',
    ofMoments < 0.97,
    `with the moments of earlier gradients it moved ${ofMoments.toPrecision(4)} as far`,
  );
  await nudge(0.5);
  const halved = await probe.move(row, w, channel, small);
  const isLikeGradient = Math.abs(halved.along / nudged.along - 0.5) < 0.15;
  field('eps', isLikeGradient, `half a gradient moved ${halved.along / nudged.along} as far`);
  if (!isLikeGradient) {
    // Steps of Adam's own size hide a clipped gradient.
    return known;
  }
  await nudge(1);
  const clip = { ...small, grad_clip_norm: 0.1 * TINY };
  const clipped = await probe.move(row, w, channel, clip);
  const share = clipped.along / nudged.along;
  field(
    'grad_clip_norm',
    share < 0.3,
    `clipped to a tenth it moved ${share.toPrecision(3)} as far`,
  );
  if (ignoredFields.includes('beta2')) return known;
  const scale = (divisor * NUDGE) / nudged.along;
  findings.push({
    name: 'size',
    isGood: Math.abs(scale - 1) < 0.1,
    detail: `gradients are ${scale.toPrecision(3)} times ∂/∂θ, expected 1`,
  });
  return { ...known, scale };
}
