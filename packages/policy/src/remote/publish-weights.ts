/**
 * Publishes new weights to an engine: saves them to a directory, from which the engine loads them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '@saccade/core';
import type { Policy } from '../policy.ts';
import { AnswerFields } from './answer-fields.ts';
import { EngineError } from './engine-error.ts';
import { EngineHttp, type EngineHttpOptions } from './engine-http.ts';
import { RemotePolicy } from './remote-policy.ts';

/** Updates engines that sample with the weights of the policy that trains. */
export interface WeightPublisher {
  /**
   * Resolves once all new requests are sampled with the policy's weights; gives their directory. Weights
   * of one version are written once, however many engines load them, and when.
   *
   * @param only the engines that load them. Default: all
   */
  publish(
    policy: Pick<Policy, 'save' | 'version'>,
    only?: readonly RemotePolicy[],
  ): Promise<string>;
  /**
   * Lets an engine load what was written last, as after its restart.
   *
   * @returns the version; undefined if nothing was written
   */
  again(engine: RemotePolicy): Promise<number | undefined>;
}

/** Tries to tell an engine to go on, the first aside. */
const MOST_TRIES = 10;

/** Where `weightPublisher` writes weights. */
export interface PublishOptions {
  /** Directory in which each version gets a subdirectory. */
  readonly directory: string;
  /** Path of the same directory on the engine's machine. Default: the same. */
  readonly engineDirectory?: string;
  /** Removes the directory of an older version. Default: all versions are kept. */
  readonly remove?: (directory: string) => Promise<void>;
}

/**
 * Makes a publisher that uses the engines' documented way to load a directory in Hugging Face
 * layout.
 *
 * vLLM, in its development mode: /pause?mode=wait, /collective_rpc reload_weights, /reset_prefix_cache,
 * /update_weight_version if the engine has it, /resume. SGLang:
 * /update_weights_from_disk, which waits for running requests and drops the cache.
 *
 * @throws ConfigError if an engine reports that it cannot load weights
 */
export function weightPublisher(
  engines: RemotePolicy | readonly RemotePolicy[],
  options: PublishOptions,
): WeightPublisher {
  const all = engines instanceof RemotePolicy ? [engines] : engines;
  for (const engine of all) expectReloading(engine);
  const { directory, engineDirectory = directory, remove } = options;
  let last: Written | undefined;
  let outdated: string[] = [];
  /** What engines load now; one that was away may still load what is outdated. */
  const loading: Written[] = [];
  const load = async (engine: RemotePolicy, written: Written): Promise<void> => {
    loading.push(written);
    try {
      await reload(engine, written);
    } finally {
      loading.splice(loading.indexOf(written), 1);
    }
  };
  const write = async (policy: Pick<Policy, 'save' | 'version'>): Promise<Written> => {
    const { version } = policy;
    if (last?.version === version) return last;
    const name = `version-${String(version).padStart(8, '0')}`;
    const target = `${directory.replace(/\/+$/, '')}/${name}`;
    // Engines load whole weights.
    await policy.save(target, { merged: true });
    const previous = last;
    last = { target, seen: `${engineDirectory.replace(/\/+$/, '')}/${name}`, version };
    if (previous !== undefined && previous.target !== target) outdated.push(previous.target);
    return last;
  };
  return {
    again(engine) {
      return engine.changes.run(async () => {
        const written = last;
        if (written !== undefined) await load(engine, written);
        return written?.version;
      });
    },
    async publish(policy, only = all) {
      const written = await write(policy);
      const loads = await Promise.allSettled(
        only.map((engine) => engine.changes.run(() => load(engine, written))),
      );
      const failed = loads.find((load) => load.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      const isLoading = (target: string) => loading.some((one) => one.target === target);
      const done = outdated.filter((target) => !isLoading(target));
      outdated = outdated.filter(isLoading);
      for (const old of done) await remove?.(old);
      return written.target;
    },
  };
}

/** Weights in a directory, as we see it and as engines see it. */
interface Written {
  readonly target: string;
  readonly seen: string;
  readonly version: number;
}

function expectReloading({ report, http }: RemotePolicy): void {
  const found = report.capabilities.find(({ name }) => name === 'reloading');
  if (found?.state === 'no') {
    throw new ConfigError(
      'engine',
      `${report.server} at ${http.url} cannot load new weights: ${found.detail} ${found.remedy}`,
    );
  }
}

async function reload(engine: RemotePolicy, { seen, version }: Written): Promise<void> {
  await (engine.dialect.name === 'vllm'
    ? reloadVllm(engine, seen, version)
    : reloadSglang(engine, seen, version));
  engine.setVersion(version);
}

async function reloadVllm(
  { http, report }: RemotePolicy,
  directory: string,
  version: number,
): Promise<void> {
  try {
    await http.post('/pause?mode=wait', '{}');
    const call = { method: 'reload_weights', kwargs: { weights_path: directory } };
    await http.post('/collective_rpc', JSON.stringify(call));
    // Keys and values of the old weights are invalid now. The answer has no body.
    await http.send('/reset_prefix_cache', '{}');
    // The last step: an engine that names the new weights has them, and nothing of those before.
    if (report.paths.includes('/update_weight_version')) {
      await http.post('/update_weight_version', JSON.stringify({ new_version: String(version) }));
    }
    await expectPaused(http);
  } finally {
    await resume(http);
  }
}

/** @throws EngineError if the engine goes on by itself: another process that has only some of the weights */
async function expectPaused(http: EngineHttp): Promise<void> {
  const { status, text } = await http.get('/is_paused');
  if (status !== 200 || !/"is_paused"\s*:\s*false/.test(text)) return;
  throw new EngineError('broken', `${http.url} was started again while it loaded weights.`);
}

/** An engine that was never told to go on would answer nobody: a lost answer is asked for again. */
async function resume(http: EngineHttp): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await http.post('/resume', '{}');
      return;
    } catch (error) {
      // One that is gone is not paused when it comes back.
      const isAway = error instanceof EngineError && error.fault === 'unreachable';
      // What it failed at was repeated already.
      const mayHelp =
        error instanceof EngineError && error.isTransient && !isAway && error.fault !== 'failed';
      if (!mayHelp || tries >= MOST_TRIES) throw error;
      await sleep(200);
    }
  }
}

/**
 * Lets an engine go on that is paused: whoever published to it last was killed meanwhile. For those alone
 * that publish to it themselves. An engine that cannot be asked is left alone.
 */
export async function resumeEngine(options: EngineHttpOptions): Promise<void> {
  const http = new EngineHttp(options);
  try {
    const { status, text } = await http.get('/is_paused');
    if (status === 200 && /"is_paused"\s*:\s*true/.test(text)) await resume(http);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

async function reloadSglang({ http }: RemotePolicy, directory: string, version: number) {
  const path = '/update_weights_from_disk';
  const body = { model_path: directory, weight_version: String(version), flush_cache: true };
  const answer = new AnswerFields(
    await http.post(path, JSON.stringify(body)),
    `${http.url}${path}`,
  );
  if (answer.at('success').raw() === true) return;
  throw new EngineError(
    'failed',
    `${http.url} did not load ${directory}: ${String(answer.at('message').raw())}. ` +
      'The engine must see the directory; give engineDirectory if it has another path there.',
  );
}
