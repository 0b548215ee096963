/** Finds out what an engine is and can do, by test requests rather than from its documentation. */
import { messageOf } from '@saccade/core';
import type { Processor } from '../policy.ts';
import { AnswerFields } from './answer-fields.ts';
import type { Dialect, EngineAnswer, EngineRequest, SentImage } from './dialect.ts';
import { EngineError, isBusy, isGone } from './engine-error.ts';
import { type EngineHttp, parseJson } from './engine-http.ts';
import { sglangDialect } from './sglang-dialect.ts';
import { vllmDialect } from './vllm-dialect.ts';

export interface EngineIdentity {
  readonly dialect: Dialect;
  /** `vLLM 0.30.0`, `SGLang`, `Saccade 0.1.0`. */
  readonly server: string;
  readonly model: string;
}

/** One capability of an engine, as a test request found it. */
export interface Capability {
  /** For example `token ids`, `log-probs`, `stop strings`, `seeds`, `images`. */
  readonly name: string;
  /** `unknown`: the test was inconclusive, and nothing relies on the capability. */
  readonly state: 'yes' | 'no' | 'unknown';
  /** The result of the test, in a phrase or sentence. */
  readonly detail: string;
  /** The remedy if it is missing; empty if nothing is missing. */
  readonly remedy: string;
}

/** An engine's identity and capabilities. */
export interface EngineReport {
  /** Name and version of the server: `vLLM 0.30.0`. */
  readonly server: string;
  /** Name of the served model. */
  readonly model: string;
  readonly capabilities: readonly Capability[];
  /**
   * Paths that the engine lists, for example `/update_weights_from_disk`; empty if it lists none.
   */
  readonly paths: readonly string[];
}

/** Formats a report as lines for people, as `saccade doctor` prints it. */
export function describeEngine({ server, model, capabilities }: EngineReport): readonly string[] {
  const width = Math.max(...capabilities.map(({ name }) => name.length));
  const words = { yes: 'yes', no: 'no ', unknown: '?  ' };
  return [
    `${server}, model ${model}`,
    ...capabilities.map(({ name, state, detail, remedy }) =>
      `${words[state]}  ${name.padEnd(width)}  ${detail}${state === 'no' ? ` ${remedy}` : ''}`.trim(),
    ),
  ];
}

/** @throws EngineError if the server implements neither vLLM's API nor SGLang's */
export async function identifyEngine(http: EngineHttp, model?: string): Promise<EngineIdentity> {
  const served = await servedModel(http);
  const named = model ?? served?.id;
  const version = await http.get('/version');
  if (version.status === 200) {
    const said = new AnswerFields(parseJson(`${http.url}/version`, version.text), '/version');
    const family = served?.owner === 'saccade' ? 'Saccade' : 'vLLM';
    const server = said.has('version') ? `${family} ${said.at('version').raw()}` : family;
    if (named !== undefined) return { dialect: vllmDialect, server, model: named };
  }
  if ((await http.has('/get_model_info')) || (await http.has('/model_info'))) {
    const server = served?.owner === 'saccade' ? 'Saccade as SGLang' : 'SGLang';
    return { dialect: sglangDialect, server, model: named ?? 'default' };
  }
  throw new EngineError(
    'incapable',
    `The server at ${http.url} is neither vLLM (GET /version) nor SGLang (GET /get_model_info): it ` +
      'has no way to take and give token ids. Serve the model with vLLM, SGLang or `saccade serve ' +
      'policy`.',
  );
}

async function servedModel(
  http: EngineHttp,
): Promise<{ readonly id: string; readonly owner: unknown } | undefined> {
  const { status, text } = await http.get('/v1/models');
  if (status === 401 || status === 403) {
    throw new EngineError('refused', `${http.url} answered ${status}. Give its API key.`, {
      status,
    });
  }
  if (status !== 200) return undefined;
  const models = new AnswerFields(parseJson(`${http.url}/v1/models`, text), '/v1/models');
  const [first] = models.has('data') ? models.at('data').list() : [];
  return first && { id: first.at('id').text(), owner: first.at('owned_by').raw() };
}

/** Tests every capability with a request of a few tokens; changes nothing on the engine. */
export async function probeEngine(
  http: EngineHttp,
  { dialect, server, model }: EngineIdentity,
  processor: Processor,
  options: { readonly images: boolean },
): Promise<EngineReport> {
  const probe = new Probe(http, dialect, model, processor);
  const paths = await listPaths(http);
  const basics = await probe.basics();
  const works = basics.every(({ state }) => state === 'yes');
  const capabilities = works
    ? [
        ...basics,
        await probe.temperedLogprobs(),
        await probe.truncatedLogprobs(),
        await probe.stopStrings(),
        await probe.seeds(),
        ...(options.images ? [await probe.images()] : []),
        probe.weightVersion(),
        reloading(dialect, paths),
      ]
    : basics;
  return { server, model, capabilities, paths };
}

const yes = (name: string, detail: string): Capability => ({
  name,
  state: 'yes',
  detail,
  remedy: '',
});
const no = (name: string, detail: string, remedy: string): Capability => ({
  name,
  state: 'no',
  detail,
  remedy,
});
const unknown = (name: string, detail: string): Capability => ({
  name,
  state: 'unknown',
  detail,
  remedy: '',
});

const TOKENS = 24;

class Probe {
  readonly #http: EngineHttp;
  readonly #dialect: Dialect;
  readonly #model: string;
  readonly #processor: Processor;
  readonly #prompt: Int32Array;
  #answer: EngineAnswer | undefined;

  constructor(http: EngineHttp, dialect: Dialect, model: string, processor: Processor) {
    this.#http = http;
    this.#dialect = dialect;
    this.#model = model;
    this.#processor = processor;
    this.#prompt = processor.encodePrompt([{ kind: 'text', text: 'Say something.' }]).tokens;
  }

  async basics(): Promise<readonly Capability[]> {
    try {
      this.#answer = await this.#ask({});
    } catch (error) {
      if (!(error instanceof EngineError) || !['garbled', 'refused'].includes(error.fault))
        throw error;
      return [no('token ids', messageOf(error), this.#dialect.remedies.tokenIds)];
    }
    const { tokens, logprobs, promptTokens } = this.#answer;
    const paired =
      tokens.length === logprobs.length
        ? yes('log-probs', 'one for every sampled token')
        : no(
            'log-probs',
            `${logprobs.length} for ${tokens.length} tokens.`,
            'Use a newer version.',
          );
    if (promptTokens === undefined) {
      return [yes('token ids', 'in and out; the prompt is not reported'), paired];
    }
    const isSame =
      promptTokens.length === this.#prompt.length &&
      promptTokens.every((token, i) => token === this.#prompt[i]);
    return [
      isSame
        ? yes('token ids', 'in and out, the prompt unchanged')
        : no(
            'token ids',
            `It made ${promptTokens.length} tokens of a prompt of ${this.#prompt.length}.`,
            'Nothing may be added to a prompt of token ids.',
          ),
      paired,
    ];
  }

  /**
   * At temperatures of 100 and 1000 all tokens are nearly equally likely. The spread of log-probs
   * after the temperature falls to a tenth from the first to the second; before it, the spread is
   * equal.
   */
  async temperedLogprobs(): Promise<Capability> {
    const name = 'tempered log-probs';
    const spreads = await Promise.all(
      [100, 1000].map(async (temperature) => spread((await this.#ask({ temperature })).logprobs)),
    );
    const [mild = 0, strong = 0] = spreads;
    if (mild > 3 * strong) return yes(name, 'of the distribution that was sampled from');
    return no(
      name,
      'They are those before the temperature, and fit only temperature 1.',
      this.#dialect.remedies.temperedLogprobs,
    );
  }

  /**
   * Of the two most likely tokens, nearly equally likely at this temperature, each has a log-prob of
   * −ln 2. Before truncation it is −ln V for a vocabulary of V.
   */
  async truncatedLogprobs(): Promise<Capability> {
    const name = 'truncated log-probs';
    const { logprobs } = await this.#ask({ temperature: 1000, topK: 2 });
    const least = Math.min(...logprobs);
    if (least > -1.1) return yes(name, 'among the tokens that topK, topP and minP keep');
    return no(
      name,
      'They are those before topK, topP and minP.',
      this.#dialect.remedies.truncatedLogprobs,
    );
  }

  /** Every letter and digit is a stop string, so that whatever the model writes, one ends it. */
  async stopStrings(): Promise<Capability> {
    const name = 'stop strings';
    const stop = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
    const { tokens, reason } = await this.#ask({ maxTokens: 3 * TOKENS, stop });
    const said = this.#processor.decode(Int32Array.from(tokens));
    const stops = (text: string): boolean => stop.some((one) => text.includes(one));
    const before = this.#processor.decode(Int32Array.from(tokens.slice(0, -1)));
    if (reason === 'stop' && stops(said) && !stops(before)) {
      return yes(name, 'stop, and stay in the tokens');
    }
    if (reason === 'length' && !stops(said)) {
      return unknown(name, 'the model says nothing to stop at');
    }
    return no(
      name,
      `Asked to stop at letters and digits it said ${JSON.stringify(said)}.`,
      'Start it with its tokenizer: without one it finds no stop strings.',
    );
  }

  async seeds(): Promise<Capability> {
    const name = 'seeds';
    const seed = [7, 11] as const;
    const [first, second] = await Promise.all([this.#ask({ seed }), this.#ask({ seed })]);
    const isSame = first.tokens.every((token, i) => token === second.tokens[i]);
    if (isSame) return yes(name, 'give the same tokens again');
    return no(
      name,
      'The same seed gave other tokens: rollouts cannot be repeated.',
      this.#dialect.remedies.seeds,
    );
  }

  async images(): Promise<Capability> {
    const name = 'images';
    const image = await this.#processor.prepareImage(probeImage());
    const prompt = this.#processor.encodePrompt([{ kind: 'image', image }]);
    try {
      const sent: SentImage = { dataUrl: probeImageUrl, tokenCount: image.tokenCount };
      const { promptTokens } = await this.#ask({ tokens: prompt.tokens, images: [sent] });
      if (promptTokens === undefined) {
        return no(
          name,
          'It does not report the prompt that it made of ids and images.',
          'Use a version that returns prompt_token_ids for prompts with images.',
        );
      }
      const isSame =
        promptTokens.length === prompt.tokens.length &&
        promptTokens.every((token, i) => token === prompt.tokens[i]);
      if (isSame) return yes(name, 'beside token ids, at the processor’s sizes');
      return no(
        name,
        `It made ${promptTokens.length} tokens of an image prompt of ${prompt.tokens.length}.`,
        'Serve the directory that the policy was saved to, so that images have the same sizes.',
      );
    } catch (error) {
      // A connection that broke, or an engine with too much to do, says nothing of what it can.
      if (!(error instanceof EngineError) || isGone(error) || isBusy(error)) throw error;
      return no(name, messageOf(error), this.#dialect.remedies.images);
    }
  }

  weightVersion(): Capability {
    const version = this.#answer?.weightVersion;
    return version === undefined
      ? unknown('weight version', 'not in its answers; the publisher’s count is used')
      : yes('weight version', `in its answers, now ${version}`);
  }

  #ask(changes: Partial<EngineRequest>): Promise<EngineAnswer> {
    const { imageToken, endOfTurn } = this.#processor;
    return this.#dialect.generate(this.#http, this.#model, {
      tokens: this.#prompt,
      images: [],
      ...(imageToken !== undefined && { imageToken }),
      maxTokens: TOKENS,
      stop: [],
      temperature: 1,
      seed: [1, 1],
      session: 'probe',
      endOfTurn,
      ignoreEndOfTurn: true,
      ...changes,
    });
  }
}

/** Standard deviation. */
function spread(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** A gray PNG of 56×56 pixels. */
const probeImageUrl =
  'data:image/png;base64,' +
  'iVBORw0KGgoAAAANSUhEUgAAADgAAAA4CAIAAAAn5KxJAAAAP0lEQVR42u3OMQ0AAAwDoEqv9B5TsQQU' +
  'kD4RUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVFRUVHRM4zeYQ8NTLd/AAAAAElFTkSuQmCC';

function probeImage(): Uint8Array {
  const binary = atob(probeImageUrl.slice(probeImageUrl.indexOf(',') + 1));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** FastAPI servers list their paths by default. */
async function listPaths(http: EngineHttp): Promise<readonly string[]> {
  const { status, text } = await http.get('/openapi.json');
  if (status !== 200) return [];
  const { paths } = parseJson(`${http.url}/openapi.json`, text) as { paths?: unknown };
  return typeof paths === 'object' && paths !== null ? Object.keys(paths) : [];
}

function reloading({ reloadPath, remedies }: Dialect, paths: readonly string[]): Capability {
  if (paths.includes(reloadPath)) {
    return yes('reloading', `POST ${reloadPath} takes new weights from a directory`);
  }
  return paths.length === 0
    ? unknown('reloading', 'it does not list its paths')
    : no('reloading', `It has no ${reloadPath}.`, remedies.reloading);
}
