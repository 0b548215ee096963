/**
 * A policy whose weights train on other machines, behind any server of the Tinker protocol. Losses
 * run here: log-probs come, their gradients go.
 */
import { ConfigError, DataError, StateError } from '@saccade/core';
import {
  type EngineSettings,
  engineSettings,
  expectSameTokens,
  type FixedPolicy,
  type LossFunction,
  type OptimizerStep,
  type OptimizerStepResult,
  type PackedBatch,
  type Published,
  type PublishTarget,
  type ReferenceOptions,
  type SampleRequest,
  type SampleResult,
  type ScoreOptions,
  type Scores,
  type TrainedPolicy,
} from '@saccade/policy';
import type { Capabilities } from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { hasRecord, readRecord, recordedUri, writeRecord } from './checkpoint-record.ts';
import { forestRequest } from './forest-request.ts';
import { GradientLine } from './gradient-line.ts';
import { type LinearPath, plainPath } from './gradient-path.ts';
import { engineError } from './learner-faults.ts';
import { type LearnerLink, type LinkOptions, openLink } from './learner-link.ts';
import { wireStep } from './optimizer-fields.ts';
import { gathered, pathData, spread } from './path-data.ts';
import { estimated, expectPlainTemperature, unfit } from './plain-limits.ts';
import { RemoteSampler } from './remote-sampler.ts';
import { ServerSaves } from './server-saves.ts';

/** The learner, the model that trains there, and its tokens. */
export interface RemoteLearnerOptions extends LinkOptions {
  /** Processor of the model, so that token ids mean the same on both sides. */
  readonly processor: TrainedPolicy['processor'];
  /**
   * How gradients of any loss reach a server without the extension, as it was measured. Default: its
   * cross-entropy is −Σ w·logprob.
   */
  readonly path?: LinearPath;
  /**
   * Optimizer steps after which the learner saves everything, so that a new one has little to repeat.
   * Default 16.
   */
  readonly recoverySteps?: number;
  /** Releases what the connection holds, once it is closed. */
  readonly onDispose?: () => Promise<void>;
}

/** Connects to a learner and makes the model there. */
export async function openRemoteLearner(options: RemoteLearnerOptions): Promise<RemoteLearner> {
  return new RemoteLearner(await openLink(options), options);
}

/** A policy whose weights a server has; `openRemoteLearner` makes one. */
export class RemoteLearner implements TrainedPolicy {
  readonly processor: TrainedPolicy['processor'];
  /** Unknown: nobody but the server can compare them. */
  readonly samplesAsItScores = false;
  readonly #link: LearnerLink;
  readonly #options: RemoteLearnerOptions;
  readonly #sampler: RemoteSampler;
  readonly #gradients: GradientLine;
  readonly #saves: ServerSaves;
  #version = 0;
  #hasMoments = false;
  #isDisposed = false;

  constructor(link: LearnerLink, options: RemoteLearnerOptions) {
    this.#link = link;
    this.#options = options;
    this.processor = options.processor;
    this.#gradients = new GradientLine(link, options.path ?? plainPath);
    this.#sampler = new RemoteSampler(options.processor);
    this.#saves = new ServerSaves(link, options.onEvent);
  }

  get version(): number {
    return this.#version;
  }

  get vocabSize(): number {
    return this.capabilities.vocabSize ?? this.processor.codec.vocabSize;
  }

  get hasAdapter(): boolean {
    return this.#options.request.lora !== undefined;
  }

  /** What the server says of itself. */
  get capabilities(): Capabilities {
    return this.#link.client.capabilities;
  }

  /** Times that the learner was lost and another went on in its place. */
  get losses(): number {
    return this.#link.losses;
  }

  /** The model on the server, for calls that a policy has no word for. */
  get model(): TinkerModel {
    return this.#link.model;
  }

  configureEngine(settings: Partial<EngineSettings>): void {
    const own = JSON.stringify(engineSettings.parse(settings));
    if (own === JSON.stringify(engineSettings.parse({}))) return;
    throw new ConfigError(
      'policy',
      'policy: these settings are of local kernels, and a learner elsewhere samples by its own. Leave ' +
        'them at their defaults, and set them where the server is started.',
    );
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const { client } = this.#link;
    return await this.#link.run((model) =>
      this.#sampler.sample({ client, model, version: this.#version }, request),
    );
  }

  release(key: string): void {
    if (!this.capabilities.extensions.includes('sampling') || this.#isDisposed) return;
    // A cache that stays for a while costs memory, not correctness.
    this.#link.client.transport.postJson('/release', { key }).catch(() => {});
  }

  async score(batch: PackedBatch, temperature = 1, options: ScoreOptions = {}): Promise<Scores> {
    const { sumSquaredProbs = false } = options;
    return await this.#link.run((model) =>
      this.#scoreBy(model, batch, temperature, { sumSquaredProbs }),
    );
  }

  async forwardBackward(
    batch: PackedBatch,
    loss: LossFunction,
    temperature = 1,
  ): Promise<Scores & { readonly loss: number }> {
    return this.#link.client.isOurs
      ? await this.#trainForest(batch, loss, temperature)
      : await this.#trainPaths(batch, loss, temperature);
  }

  async optimizerStep(step: OptimizerStep): Promise<OptimizerStepResult> {
    const { isOurs } = this.#link.client;
    const { adam, optimizer } = wireStep(step, isOurs);
    await this.#gradients.flush();
    const version = this.#version;
    const options = {
      ...(isOurs && { expectedVersion: version }),
      ...(optimizer !== undefined && { optimizer }),
    };
    const answer = await this.#link.run((model) => model.optimStep(adam, options));
    this.#link.journal.add((model) => model.optimStep(adam, options), true);
    this.#version = answer.version ?? version + 1;
    this.#hasMoments = true;
    this.#sampler.forget();
    const { recoverySteps = 16 } = this.#options;
    if (this.#link.journal.steps >= recoverySteps) await this.#saves.saveToRecover();
    return { gradNorm: answer.gradNorm ?? Number.NaN, isSkipped: answer.isSkipped };
  }

  async resetOptimizer(): Promise<void> {
    if (!this.#hasMoments) return;
    if (this.#link.client.isOurs) {
      await this.#link.run((model) => model.resetOptimizer());
      this.#link.journal.add((model) => model.resetOptimizer());
    } else {
      // Without a word for it, another model begins with the same weights.
      await this.#saves.saveToBegin(false);
      await this.#link.replace();
    }
    this.#hasMoments = false;
  }

  async save(
    directory: string,
    options: { optimizer?: boolean; merged?: boolean } = {},
  ): Promise<void> {
    if (options.merged === true) {
      throw new TinkerError(
        'user',
        'Weights of a learner elsewhere do not pass through this process. Publish them to engines, or ' +
          'save them there.',
        { code: 'unfit', field: 'merged' },
      );
    }
    const hasOptimizer = options.optimizer === true;
    const { path, sha256 } = await this.#saves.save(this.#version, hasOptimizer);
    const { baseModel, lora } = this.#options.request;
    await writeRecord(directory, {
      format: 1,
      uri: path,
      version: this.#version,
      baseModel,
      hasOptimizer,
      ...(sha256 !== undefined && { sha256 }),
      ...(lora && { lora: { ...lora } }),
      server: this.#link.client.transport.url,
    });
    if (hasOptimizer) await this.#saves.beginAt({ uri: path, hasOptimizer });
  }

  async forget(directory: string): Promise<void> {
    const uri = await recordedUri(directory);
    if (uri !== undefined) await this.#saves.delete(uri);
  }

  /** @throws DataError if the server has other weights by that name, or the record is of another model */
  async load(directory: string, options: { optimizer?: boolean } = {}): Promise<void> {
    const record = await readRecord(directory);
    const { baseModel } = this.#options.request;
    if (record.baseModel !== baseModel) {
      throw new DataError(
        `${directory} has weights of ${record.baseModel}, and the learner trains ${baseModel}. ` +
          'Set model.baseModel to what they are of.',
      );
    }
    const hasOptimizer = options.optimizer === true;
    if (hasOptimizer && !record.hasOptimizer) {
      throw new DataError(`${directory} was saved without the optimizer's state.`);
    }
    const loaded = await this.#link.run((model) => model.loadWeights(record.uri, hasOptimizer));
    const { sha256 } = loaded;
    if (record.sha256 !== undefined && sha256 !== undefined && record.sha256 !== sha256) {
      throw new DataError(
        `The learner has other weights under ${record.uri} than were saved: their SHA-256 is ` +
          `${sha256}, and ${directory} says ${record.sha256}. Restore them there.`,
      );
    }
    if (hasOptimizer && loaded.version !== undefined && loaded.version !== record.version) {
      throw new DataError(
        `The learner has version ${loaded.version} under ${record.uri}, and ${directory} says ` +
          `${record.version}. Restore it there.`,
      );
    }
    await this.#saves.beginAt({ uri: record.uri, hasOptimizer });
    // As a policy of this machine, which keeps its own count without the optimizer's.
    if (hasOptimizer) this.#version = record.version;
    this.#hasMoments = hasOptimizer;
    this.#sampler.forget();
    // A new learner would count from 0, and this one does not.
    if (!hasOptimizer && this.#version !== 0) await this.#saves.saveToRecover();
  }

  async openReference(directory: string, options: ReferenceOptions): Promise<FixedPolicy> {
    if (!hasRecord(directory)) {
      const reference = await options.openWhole(directory);
      expectSameTokens(directory, this.processor, reference.processor);
      return reference;
    }
    const record = await readRecord(directory);
    const score: FixedPolicy['score'] = async (batch, temperature = 1, how = {}) => {
      const { sumSquaredProbs = false } = how;
      return await this.#link.run((model) =>
        this.#scoreBy(model, batch, temperature, { sumSquaredProbs, weights: 'reference' }),
      );
    };
    // Nothing was trained yet: these are the first weights, which the learner has anyway.
    if (record.version === 0 && this.#link.client.isOurs) return { score, dispose() {} };
    const { onDispose: _, ...rest } = this.#options;
    const other = await openRemoteLearner(rest);
    try {
      await other.load(directory);
    } catch (error) {
      await other.dispose();
      throw error;
    }
    return other;
  }

  async publish(target: PublishTarget): Promise<Published> {
    const version = this.#version;
    const published = await this.#link
      .run((model) => model.publish(target, version))
      .catch((error: unknown) => {
        throw engineError(error);
      });
    if (published.version !== version) {
      throw new StateError(
        `The learner published version ${published.version}, and ${version} was asked for.`,
      );
    }
    const wrong = published.served.find((one) => one.version !== String(version));
    if (wrong === undefined) return published;
    throw new StateError(
      `The engine at ${wrong.url} serves version ${wrong.version} after ${version} was published.`,
    );
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await this.#saves.dispose();
    await this.#link.dispose();
    await this.#options.onDispose?.();
  }

  async #trainForest(
    batch: PackedBatch,
    loss: LossFunction,
    temperature: number,
  ): Promise<Scores & { readonly loss: number }> {
    const request = forestRequest(batch, { temperature });
    const trained = await this.#link.run(async (model) => {
      const { requestId, version: _, ...scores } = await model.forwardForest(request);
      const { loss: value, ...gradients } = loss(scores);
      if (gradients.gradValues !== undefined && scores.values === undefined) {
        throw unfit('values', 'the algorithm trains values, and this learner predicts none');
      }
      await model.backward(requestId, gradients);
      return { scores, value, gradients };
    });
    const { gradients } = trained;
    this.#link.journal.add(async (model) => {
      const { requestId } = await model.forwardForest(request);
      await model.backward(requestId, gradients);
    });
    return { ...trained.scores, loss: trained.value };
  }

  async #trainPaths(
    batch: PackedBatch,
    loss: LossFunction,
    temperature: number,
  ): Promise<Scores & { readonly loss: number }> {
    expectPlainTemperature(temperature);
    const rows = pathData(batch, this.processor.imageToken);
    const logprobs = await this.#link.run((model) => this.#pathLogprobs(model, rows));
    const scores = estimated(gathered(rows, logprobs));
    const { loss: value, gradLogprobs, gradEntropy, gradValues } = loss(scores);
    if (gradEntropy?.some((gradient) => gradient !== 0)) {
      throw unfit('entropy', 'the algorithm’s loss has a gradient for entropies (a coefficient)');
    }
    if (gradValues?.some((gradient) => gradient !== 0)) {
      throw unfit('values', 'the algorithm trains values');
    }
    await this.#gradients.add({ rows, gradLogprobs, logprobs });
    return { ...scores, loss: value };
  }

  async #scoreBy(
    model: TinkerModel,
    batch: PackedBatch,
    temperature: number,
    options: { readonly sumSquaredProbs: boolean; readonly weights?: 'reference' },
  ): Promise<Scores> {
    if (this.#link.client.isOurs) {
      const request = forestRequest(batch, { temperature, ...options });
      const { requestId: _, version: __, ...scores } = await model.forwardForest(request);
      return scores;
    }
    expectPlainTemperature(temperature);
    if (options.sumSquaredProbs) {
      throw unfit('sumSquaredProbs', 'the algorithm reads sums of squared probabilities');
    }
    const rows = pathData(batch, this.processor.imageToken);
    return estimated(gathered(rows, await this.#pathLogprobs(model, rows)));
  }

  async #pathLogprobs(
    model: TinkerModel,
    rows: ReturnType<typeof pathData>,
  ): Promise<readonly Float32Array[]> {
    const ones = spread(rows, () => 1);
    const data = rows.data.map((one, at) => ({ ...one, weights: ones[at] as Float32Array }));
    return await model.forward(data);
  }
}
