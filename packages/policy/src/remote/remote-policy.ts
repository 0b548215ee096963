/**
 * The sampling half of a policy on an engine behind HTTP: vLLM, SGLang, or our own service. Token
 * ids go in, token ids and their log-probs come out; nothing is tokenized again, and what the engine
 * says of itself is checked before it is believed.
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
import { type Dialect, dataUrlOf, type EngineAnswer } from './dialect.ts';
import { EngineError } from './engine-error.ts';
import { EngineHttp, type EngineHttpOptions } from './engine-http.ts';
import { type EngineReport, identifyEngine, probeEngine } from './probe-engine.ts';

export interface RemotePolicyOptions extends EngineHttpOptions {
  /** Of the model that the engine serves: tokens mean the same on both sides. */
  readonly processor: Processor;
  /** As the engine calls it. Default: the only one, or the first, that it serves. */
  readonly model?: string;
  /** Optimizer steps of the weights it serves, until they are published anew. Default 0. */
  readonly policyVersion?: number;
  /** What must work before anything is sampled. Default: everything but tempered log-probs. */
  readonly needs?: EngineNeeds;
}

export interface EngineNeeds {
  /** Images beside token ids. Default: whether the processor knows images. */
  readonly pictures?: boolean;
  /**
   * Log-probs of the distribution that was sampled from, at temperatures other than 1. Default false:
   * a request at such a temperature is refused where they are not.
   */
  readonly temperedLogprobs?: boolean;
}

/**
 * Asks an engine what it is and what it can, and gives a policy that samples there.
 *
 * @throws EngineError `incapable`, naming what is missing and what to do; or what the way there broke
 * @throws ConfigError for an option out of range
 */
export async function openRemotePolicy(options: RemotePolicyOptions): Promise<RemotePolicy> {
  const { processor, policyVersion = 0, needs = {} } = options;
  if (!Number.isInteger(policyVersion) || policyVersion < 0) {
    throw new ConfigError('policyVersion', `policyVersion must be 0 or more, is ${policyVersion}.`);
  }
  const pictures = needs.pictures ?? processor.imageToken !== undefined;
  const { http, dialect, report } = await examine(options, pictures);
  const required: Record<string, boolean> = {
    'token ids': true,
    'log-probs': true,
    'stop strings': true,
    pictures,
    'tempered log-probs': needs.temperedLogprobs ?? false,
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
 * What an engine is and can, whatever of it is missing.
 *
 * @throws EngineError if it cannot be reached, or is no engine that takes token ids
 */
export async function examineEngine(
  options: Pick<RemotePolicyOptions, 'processor' | 'model'> & EngineHttpOptions,
): Promise<EngineReport> {
  return (await examine(options, options.processor.imageToken !== undefined)).report;
}

async function examine(
  options: Pick<RemotePolicyOptions, 'processor' | 'model'> & EngineHttpOptions,
  pictures: boolean,
): Promise<{
  readonly http: EngineHttp;
  readonly dialect: Dialect;
  readonly report: EngineReport;
}> {
  const http = new EngineHttp(options);
  const identity = await identifyEngine(http, options.model);
  const report = await probeEngine(http, identity, options.processor, { pictures });
  return { http, dialect: identity.dialect, report };
}

export class RemotePolicy implements Sampler {
  readonly report: EngineReport;
  readonly http: EngineHttp;
  readonly processor: Processor;
  readonly dialect: Dialect;
  readonly #remembering: RememberingProcessor;
  readonly #hasTemperedLogprobs: boolean;
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
    this.#remembering = new RememberingProcessor(processor);
    this.processor = this.#remembering;
    this.#version = version;
    this.#hasTemperedLogprobs = report.capabilities.some(
      ({ name, state }) => name === 'tempered log-probs' && state === 'yes',
    );
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Says which weights the engine has from now on. Requests in flight keep the version they began
   * with, unless the engine says itself which weights gave their tokens.
   */
  setVersion(policyVersion: number): void {
    this.#version = policyVersion;
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
      // Decoded here, so that the same tokens are the same text wherever they were sampled.
      text: this.processor.decode(isEnd ? sampled.subarray(0, -1) : sampled),
      finish: isEnd ? 'endOfTurn' : answer.reason === 'length' ? 'length' : 'stop',
      policyVersion: versionOf(answer) ?? version,
    };
  }

  /** The engine forgets by itself: it names nothing that could be released. */
  release(_key: string): void {}
}

/** @throws EngineError if it is not an answer to this request */
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
      `${url} does not say which prompt it made of ${request.tokens.length} token ids and ` +
        `${request.images.length} pictures, so they may be other ids. Use a version that returns ` +
        'prompt_token_ids.',
    );
  }
}

function checkPrompt(had: readonly number[], sent: Int32Array, url: string): void {
  const length = Math.max(had.length, sent.length);
  for (let i = 0; i < length; i++) {
    if (had[i] === sent[i]) continue;
    throw new EngineError(
      'retokenised',
      `${url} made ${had.length} tokens of a prompt of ${sent.length}: at ${i} it has ` +
        `${had[i] ?? 'nothing'}, expected ${sent[i] ?? 'nothing'}. Either it tokenises prompts with ` +
        'pictures anew, as SGLang does, or its picture sizes are others than the processor’s: ' +
        'serve the directory that the policy was saved to, with vLLM for ids and pictures.',
    );
  }
}

function versionOf({ weightVersion }: EngineAnswer): number | undefined {
  return weightVersion !== undefined && /^\d+$/.test(weightVersion)
    ? Number(weightVersion)
    : undefined;
}

/** A processor that keeps the bytes of every image it prepares: engines prepare them themselves. */
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

  /** @throws ConfigError for an image that another processor prepared */
  sent(image: ModelImage): { readonly dataUrl: string; readonly tokenCount: number } {
    const encoded = this.#encoded.get(image);
    if (encoded === undefined) {
      throw new ConfigError(
        'images',
        'A picture was not prepared by the remote policy’s processor, so its bytes are not known. ' +
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
