/**
 * Measures what a server's numbers mean before a run trusts them. Servers of one protocol disagree:
 * some normalize a loss by its weights, some drop images, and all of them answer finite losses.
 */
import { type EventSink, StateError } from '@saccade/core';
import type { TrainedPolicy } from '@saccade/policy';
import type { ModelRequest, TinkerClient } from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import type { LinearPath } from '../remote/gradient-path.ts';
import type { NamedLoss } from '../wire/schemas.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { type Effects, measureEffects } from './effects.ts';
import { measureImages } from './images.ts';
import {
  type Linearity,
  measureLinearity,
  ROW_LENGTH,
  type Tolerances,
  weightsOf,
} from './linearity.ts';
import type { Finding, Measurement, Verdict } from './measurement.ts';
import { comparedLosses, equalLosses } from './named-equal.ts';
import { type Channel, Probe, probeRow } from './probe.ts';

/** What a run will ask of the server. */
export interface MeasureOptions {
  readonly request: ModelRequest;
  readonly processor: TrainedPolicy['processor'];
  /** Whether the run has images. Default: whether the processor has. */
  readonly images?: boolean;
  readonly tolerances?: Tolerances;
  readonly onEvent?: EventSink;
}

const usual: Tolerances = { ratio: 0.02, zero: 0.02 };

/**
 * Measures a server on scratch models, which are unloaded after it.
 *
 * @throws TinkerError if the server cannot be asked at all
 */
export async function measureServer(
  client: TinkerClient,
  options: MeasureOptions,
): Promise<Measurement> {
  const { request, processor, tolerances = usual } = options;
  const vocabulary = client.capabilities.vocabSize ?? processor.codec.vocabSize;
  const isExtended = client.isOurs;
  const findings: Finding[] = [];
  const reasons: string[] = [];
  const scratch = async <Result>(
    seed: number,
    use: (model: TinkerModel) => Promise<Result>,
  ): Promise<Result> => {
    const model = await client.createModel(withSeed(request, seed));
    try {
      return await use(model);
    } finally {
      await model.unload().catch(() => {});
    }
  };
  const channels: readonly Channel[] = isExtended
    ? ['backward']
    : ['cross_entropy', 'importance_sampling'];
  const wantsImages = options.images ?? processor.imageToken !== undefined;
  let first: First | undefined;
  // A model of its own for each: one that is not linear may be left with moments beyond all bounds.
  for (const channel of channels) {
    const measured = await scratch(101, async (model): Promise<First> => {
      const probe = new Probe(model);
      const linearity = await tried(findings, channel, () =>
        measureLinearity(probe, channel, vocabulary, tolerances),
      );
      findings.push(...(linearity?.findings ?? []));
      const isLinear = linearity?.isLinear === true;
      const isLast = isLinear || channel === channels.at(-1);
      if (!isLast) return { channel, linearity, isLinear, named: [] };
      const named = isLinear
        ? await equalLosses(probe, channel, linearity.path, vocabulary, tolerances.zero)
        : await soundLosses(probe, vocabulary, tolerances);
      return { channel, linearity, isLinear, named };
    });
    first = measured;
    if (measured.isLinear) break;
  }
  if (first === undefined) throw new StateError('There is no way to give gradients to a server.');
  const found: First = first;
  const images = wantsImages
    ? await scratch(101, (model) => measureImages(model, processor, isExtended))
    : undefined;
  findings.push(...(images?.findings ?? []));
  const effects = await scratch(202, async (model) => {
    const { channel, isLinear } = found;
    const divisor = found.linearity?.path?.perToken ? ROW_LENGTH : 1;
    const own = { probe: new Probe(model), channel, vocabulary, isLinear, divisor };
    const measure = async (bystander?: Probe) =>
      await tried(findings, 'steps', () =>
        measureEffects({ ...own, ...(bystander && { bystander }) }),
      );
    // Those with the extension may hold one model only, and are tested for it otherwise.
    if (!isLinear || isExtended) return await measure();
    const other = await client.createModelIfRoom(withSeed(request, 303));
    if (other === undefined) return await measure();
    try {
      return await measure(new Probe(other));
    } finally {
      await other.unload().catch(() => {});
    }
  });
  findings.push(...(effects?.findings ?? []));
  if (request.lora !== undefined && effects !== undefined && found.linearity !== undefined) {
    findings.push(adapterFinding(found.linearity.norm, effects.norm));
  }
  const path = scaled(found.linearity?.path, effects);
  const verdict = verdictOf(findings, reasons, {
    ...found,
    effects,
    path,
    isExtended,
    seesImages: images?.seesImages,
  });
  return {
    verdict,
    isExtended,
    namedLosses: found.named,
    findings,
    reasons,
    ignoredFields: effects?.ignoredFields ?? [],
    ...(effects?.areModelsApart !== undefined && { areModelsApart: effects.areModelsApart }),
    ...(images !== undefined && { seesImages: images.seesImages }),
    ...(path !== undefined && verdict !== 'refused' && verdict !== 'named' && { path }),
  };
}

/** What the first measurement says. */
interface First {
  readonly channel: Channel;
  readonly linearity: Linearity | undefined;
  readonly isLinear: boolean;
  readonly named: readonly NamedLoss[];
}

interface Measured {
  readonly isLinear: boolean;
  readonly named: readonly NamedLoss[];
  readonly seesImages: boolean | undefined;
  readonly effects: Effects | undefined;
  readonly path: LinearPath | undefined;
  readonly isExtended: boolean;
}

function verdictOf(findings: readonly Finding[], reasons: string[], measured: Measured): Verdict {
  const { isLinear, named, seesImages, effects, path, isExtended } = measured;
  if (effects?.isDescent === false) {
    reasons.push('A step up made the log-probs smaller: its gradients have the wrong sign.');
  }
  if (seesImages === false) {
    reasons.push('Images do not reach the model: it would be trained on what it cannot see.');
  }
  if (findings.some(({ name, isGood }) => name === 'adapter' && !isGood)) {
    reasons.push('An adapter was asked for, and whole weights train.');
  }
  const unknown = findings.find(({ name, isGood }) => name === 'norm' && !isGood);
  if (unknown !== undefined) reasons.push(`${unknown.detail} Nothing can be measured without it.`);
  if (!isLinear && named.length === 0 && unknown === undefined) {
    reasons.push(
      'Neither its cross-entropy nor its importance sampling is linear in what it is given.',
    );
  }
  if (effects === undefined || reasons.length > 0) return 'refused';
  if (!isLinear) return 'named';
  if (isExtended) return 'linear';
  const isPlain =
    path?.loss === 'cross_entropy' && !path.perDatum && !path.perToken && path.scale === 1;
  return isPlain ? 'linear' : 'linearized';
}

function withSeed(request: ModelRequest, seed: number): ModelRequest {
  return { ...request, ...(request.lora && { lora: { ...request.lora, seed } }) };
}

/** A scale that is 1 as far as it can be told is 1. */
function scaled(
  path: LinearPath | undefined,
  effects: Effects | undefined,
): LinearPath | undefined {
  const scale = effects?.scale;
  if (path === undefined || scale === undefined) return path;
  return Math.abs(scale - 1) < 0.1 ? path : { ...path, scale };
}

/** Norms of the same gradient for two random adapters: alike only where whole weights train. */
function adapterFinding(one: number, other: number): Finding {
  const difference = Math.abs(one / other - 1);
  return {
    name: 'adapter',
    isGood: difference > 1e-5,
    detail: `two seeds give gradients that differ by ${difference.toPrecision(3)}, expected above 0`,
  };
}

/** Losses with names that are at least linear and signed in their advantages at the policy itself. */
async function soundLosses(
  probe: Probe,
  vocabulary: number,
  { ratio, zero }: Tolerances,
): Promise<readonly NamedLoss[]> {
  const row = probeRow(1, ROW_LENGTH, vocabulary);
  const advantages = weightsOf(row);
  const sound: NamedLoss[] = [];
  for (const loss of comparedLosses) {
    try {
      const old = await probe.logprobs(row, 'importance_sampling');
      const once = async (factor: number) =>
        await probe.named(
          loss,
          row,
          old,
          advantages.map((value) => value * factor),
        );
      await once(1);
      const one = await probe.norm();
      await once(2);
      const two = await probe.norm();
      await once(1);
      await once(-1);
      const none = await probe.norm();
      if (one > 0 && Math.abs(two / one - 2) <= 2 * ratio && none <= zero * one) sound.push(loss);
    } catch (error) {
      if (!(error instanceof TinkerError) || error.isLoss) throw error;
    }
  }
  return sound;
}

/** Runs a part of the measurement; what the server refuses is a finding. */
async function tried<Result>(
  findings: Finding[],
  name: string,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TinkerError) || error.isLoss) throw error;
    const isNorm = error.field === 'grad_norm';
    findings.push({ name: isNorm ? 'norm' : name, isGood: false, detail: error.message });
    return undefined;
  }
}
