/**
 * The sampling part of a policy on an engine behind HTTP: vLLM, SGLang, or Saccade's own service.
 * Token ids go in, token ids and their log-probs come out. Nothing is tokenized again, and the
 * engine's claims are tested before they are used.
 */
import { ConfigError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type {
  ContentPart,
  EncodedContent,
  Processor,
  SampleRequest,
  SampleResult,
  Sampler,
} from '../policy.ts';
import { checkTruncation, fullTruncation, isTruncated } from '../truncation.ts';
import { type Dialect, dataUrlOf, type EngineAnswer } from './dialect.ts';
import { EngineError } from './engine-error.ts';
import { EngineHttp, type EngineHttpOptions } from './engine-http.ts';
import { type EngineReport, identifyEngine, probeEngine } from './probe-engine.ts';
import { WeightChanges } from './weight-changes.ts';

/** The engine, its model, and what it must be capable of. */
export interface RemotePolicyOptions extends EngineHttpOptions {
  /**
   * Processor of the model that the engine serves, so that token ids mean the same on both sides.
   */
  readonly processor: Processor;
  /** The engine's name of the model. Default: the first that it serves. */
  readonly model?: string;
  /** Version of the weights that it serves now, in optimizer steps. Default 0. */
  readonly policyVersion?: number;
  /** Required capabilities. Default: all but tempered and truncated log-probs. */
  readonly needs?: EngineNeeds;
}

/**
 * Capabilities that `openRemotePolicy` requires; token ids, log-probs and stop strings always are.
 */
export interface EngineNeeds {
  /** Images beside token ids. Default: whether the processor has an image token. */
  readonly images?: boolean;
  /**
   * Log-probs of the tempered distribution, for temperatures other than 0 and 1. Default false:
   * without the capability, requests at such temperatures are refused.
   */
  readonly temperedLogprobs?: boolean;
  /**
   * Log-probs among the tokens that topK, topP and minP keep. Default false: without the capability,
   * requests with them are refused.
   */
  readonly truncatedLogprobs?: boolean;
}

/**
 * Tests an engine's capabilities and returns a policy that samples there.
 *
 * @throws EngineError `incapable`, naming the missing capability and the remedy, or another fault if
 *   the engine cannot be reached
 * @throws ConfigError if an option is out of range
 */
export async function openRemotePolicy(options: RemotePolicyOptions): Promise<RemotePolicy> {
  const { processor, policyVersion = 0, needs = {} } = options;
  if (!Number.isInteger(policyVersion) || policyVersion < 0) {
    throw new ConfigError('policyVersion', `policyVersion must be 0 or more, is ${policyVersion}.`);
  }
  const images = needs.images ?? processor.imageToken !== undefined;
  const { http, dialect, report } = await examine(options, images);
  const required: Record<string, boolean> = {
    'token ids': true,
    'log-probs': true,
    'stop strings': true,
    images,
    'tempered log-probs': needs.temperedLogprobs ?? false,
    'truncated log-probs': needs.truncatedLogprobs ?? false,
  };
  const missing = report.capabilities.find(({ name, state }) => required[name] && state === 'no');
  if (missing !== undefined) {
    const { name, detail, remedy } = missing;
    throw new EngineError(
      'incapable',
      `${report.server} at ${http.url} lacks ${name}: ${detail} ${remedy}`,
    );
  }
  return new RemotePolicy(http, dialect, processor, report, policyVersion);
}

/**
 * Reports what an engine is and can do, even if a required capability is missing.
 *
 * @throws EngineError if it cannot be reached, or is not an engine that takes token ids
 */
export async function examineEngine(
  options: Pick<RemotePolicyOptions, 'processor' | 'model'> & EngineHttpOptions,
): Promise<EngineReport> {
  return (await examine(options, options.processor.imageToken !== undefined)).report;
}

async function examine(
  options: Pick<RemotePolicyOptions, 'processor' | 'model'> & EngineHttpOptions,
  images: boolean,
): Promise<{
  readonly http: EngineHttp;
  readonly dialect: Dialect;
  readonly report: EngineReport;
}> {
  const http = new EngineHttp(options);
  const identity = await identifyEngine(http, options.model);
  const report = await probeEngine(http, identity, options.processor, { images });
  return { http, dialect: identity.dialect, report };
}

/**
 * Samples on an engine behind HTTP; `openRemotePolicy` makes one. Every answer is checked: its
 * length, its log-probs, and that the engine used the prompt's tokens unchanged.
 */
export class RemotePolicy implements Sampler {
  /** The engine's identity and capabilities. */
  readonly report: EngineReport;
  readonly http: EngineHttp;
  readonly processor: Processor;
  readonly dialect: Dialect;
  /** Whoever gives the engine weights does it as one of these, and sets their version in it. */
  readonly changes = new WeightChanges();
  readonly #remembering: RememberingProcessor;
  readonly #hasTemperedLogprobs: boolean;
  readonly #hasTruncatedLogprobs: boolean;
  #version: number;

  constructor(
    http: EngineHttp,
    dialect: Dialect,
    processor: Processor,
    report: EngineReport,
    version: number,
  ) {
    this.http = http;
    this.report = report;
    this.dialect = dialect;
    // Engines that share a processor can each be sent every image.
    this.#remembering =
      processor instanceof RememberingProcessor ? processor : new RememberingProcessor(processor);
    this.processor = this.#remembering;
    this.#version = version;
    const has = (capability: string): boolean =>
      report.capabilities.some(({ name, state }) => name === capability && state === 'yes');
    this.#hasTemperedLogprobs = has('tempered log-probs');
    this.#hasTruncatedLogprobs = has('truncated log-probs');
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Sets the version of the engine's weights. In-flight requests keep the version at their start,
   * unless the engine reports the version itself.
   */
  setVersion(policyVersion: number): void {
    this.#version = policyVersion;
  }

  /** The version of the weights as the engine says it, asked by one token; undefined if it does not. */
  async reportedVersion(): Promise<number | undefined> {
    const { endOfTurn } = this.processor;
    const answer = await this.dialect.generate(this.http, this.report.model, {
      tokens: Int32Array.of(endOfTurn),
      images: [],
      maxTokens: 1,
      stop: [],
      temperature: 0,
      topK: 0,
      topP: 1,
      minP: 0,
      seed: [0, 0],
      session: 'version',
      endOfTurn,
      ignoreEndOfTurn: true,
    });
    return versionOf(answer);
  }

  /** @throws EngineError by cause; the signal's reason if it is aborted */
  async sample(request: SampleRequest): Promise<SampleResult> {
    const { tokens, images, maxTokens, temperature, stop, signal } = request;
    if (temperature !== 1 && temperature !== 0 && !this.#hasTemperedLogprobs) {
      throw new EngineError(
        'incapable',
        `${this.report.server} at ${this.http.url} gives log-probs before the temperature, and the ` +
          `request has temperature ${temperature}: they would not be those of its distribution. ` +
          `${this.dialect.remedies.temperedLogprobs} Or sample at temperature 1.`,
      );
    }
    checkTruncation(request);
    const { topK, topP, minP } = fullTruncation(temperature === 0 ? {} : request);
    if (isTruncated({ topK, topP, minP }) && !this.#hasTruncatedLogprobs) {
      throw new EngineError(
        'incapable',
        `${this.report.server} at ${this.http.url} gives log-probs before topK, topP and minP, and ` +
          `the request has topK ${topK}, topP ${topP}, minP ${minP}: they would not be those of its ` +
          `distribution. ${this.dialect.remedies.truncatedLogprobs}`,
      );
    }
    const version = this.#version;
    const { imageToken, endOfTurn } = this.processor;
    const ignoreEndOfTurn = request.ignoreEndOfTurn ?? false;
    const answer = await this.dialect.generate(
      this.http,
      this.report.model,
      {
        tokens,
        images: images.map((image) => this.#remembering.sent(image)),
        ...(imageToken !== undefined && { imageToken }),
        maxTokens,
        stop,
        temperature,
        topK,
        topP,
        minP,
        seed: request.seed,
        session: request.conversation,
        endOfTurn,
        ignoreEndOfTurn,
      },
      signal,
    );
    checkAnswer(answer, request, this.http.url);
    const sampled = Int32Array.from(answer.tokens);
    const isEnd = sampled.at(-1) === endOfTurn && !ignoreEndOfTurn;
    return {
      tokens: sampled,
      logprobs: Float32Array.from(answer.logprobs),
      // Decoded here, so that the same tokens give the same text on every engine.
      text: this.processor.decode(isEnd ? sampled.subarray(0, -1) : sampled),
      finish: isEnd ? 'endOfTurn' : answer.reason === 'length' ? 'length' : 'stop',
      policyVersion: versionOf(answer) ?? version,
    };
  }

  /** Does nothing: engines manage their caches themselves. */
  release(_key: string): void {}
}

/** @throws EngineError if the answer does not fit the request */
function checkAnswer(answer: EngineAnswer, request: SampleRequest, url: string): void {
  const { tokens, logprobs, reason, promptTokens } = answer;
  if (reason === 'abort') {
    throw new EngineError(
      'aborted',
      `${url} stopped the request after ${tokens.length} tokens, e.g. to change its weights. ` +
        'It can be asked again.',
    );
  }
  if (tokens.length === 0 || tokens.length > request.maxTokens) {
    throw new EngineError(
      'garbled',
      `${url} gave ${tokens.length} tokens, expected 1 to ${request.maxTokens}. ` +
        'Look at `probeEngine`.',
    );
  }
  if (tokens.length !== logprobs.length) {
    throw new EngineError(
      'garbled',
      `${url} gave ${logprobs.length} log-probs for ${tokens.length} tokens. ` +
        'Look at `probeEngine`.',
    );
  }
  if (promptTokens !== undefined) checkPrompt(promptTokens, request.tokens, url);
  else if (request.images.length > 0) {
    throw new EngineError(
      'incapable',
      `${url} does not report the prompt that it made of ${request.tokens.length} token ids and ` +
        `${request.images.length} images, so the ids may differ. Use a version that returns ` +
        'prompt_token_ids.',
    );
  }
}

function checkPrompt(had: readonly number[], sent: Int32Array, url: string): void {
  const length = Math.max(had.length, sent.length);
  for (let i = 0; i < length; i++) {
    if (had[i] === sent[i]) continue;
    throw new EngineError(
      'retokenized',
      `${url} made ${had.length} tokens of a prompt of ${sent.length}: at ${i} it has ` +
        `${had[i] ?? 'nothing'}, expected ${sent[i] ?? 'nothing'}. Either it tokenizes prompts with ` +
        'images again, as SGLang does, or its image sizes differ from the processor’s: serve the ' +
        'directory that the policy was saved to, with vLLM for ids and images.',
    );
  }
}

function versionOf({ weightVersion }: EngineAnswer): number | undefined {
  return weightVersion !== undefined && /^\d+$/.test(weightVersion)
    ? Number(weightVersion)
    : undefined;
}

/** A processor that keeps the bytes of every image it prepares, because engines get the bytes. */
class RememberingProcessor implements Processor {
  readonly endOfTurn: number;
  readonly imageToken?: number;
  readonly #inner: Processor;
  readonly #encoded = new WeakMap<ModelImage, Uint8Array>();

  constructor(inner: Processor) {
    this.#inner = inner;
    this.endOfTurn = inner.endOfTurn;
    if (inner.imageToken !== undefined) this.imageToken = inner.imageToken;
  }

  /** @throws ConfigError if another processor prepared the image */
  sent(image: ModelImage): { readonly dataUrl: string; readonly tokenCount: number } {
    const encoded = this.#encoded.get(image);
    if (encoded === undefined) {
      throw new ConfigError(
        'images',
        'An image was not prepared by the remote policy’s processor, so its bytes are unknown. ' +
          'Give ModelImages the policy’s own processor.',
      );
    }
    return { dataUrl: dataUrlOf(image, encoded), tokenCount: image.tokenCount };
  }

  async prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    const image = await this.#inner.prepareImage(encoded);
    this.#encoded.set(image, encoded);
    return image;
  }
  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent {
    return this.#inner.encodePrompt(user, system);
  }
  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent {
    return this.#inner.encodeObservation(user, modelEnded);
  }
  encodeContent(parts: readonly ContentPart[]): EncodedContent {
    return this.#inner.encodeContent(parts);
  }
  encodeModelText(text: string, ends: boolean): Int32Array {
    return this.#inner.encodeModelText(text, ends);
  }
  decode(tokens: Int32Array): string {
    return this.#inner.decode(tokens);
  }
}
