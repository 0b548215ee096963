/** New weights for an engine: saved to a directory that it can read, then loaded from there. */
import { ConfigError } from '@saccade/core';
import type { Policy } from '../policy.ts';
import { AnswerFields } from './answer-fields.ts';
import { EngineError } from './engine-error.ts';
import type { RemotePolicy } from './remote-policy.ts';

/** Gives whoever samples the weights of whoever learns. */
export interface WeightPublisher {
  /** Resolves once every request that begins from now on is sampled with the policy's weights. */
  publish(policy: Pick<Policy, 'save' | 'version'>): Promise<void>;
}

export interface PublishOptions {
  /** Where weights are written, a directory each version. */
  readonly directory: string;
  /** The same directory as the engine sees it, where that has another path. Default: the same. */
  readonly engineDirectory?: string;
  /** Removes a directory that is no longer needed; default: they stay. */
  readonly remove?: (directory: string) => Promise<void>;
}

/**
 * Publishes by the engine's documented way of loading a directory in Hugging Face layout.
 *
 * vLLM, in its development mode: /pause?mode=wait, /collective_rpc reload_weights,
 * /update_weight_version where there is one, /reset_prefix_cache, /resume. SGLang:
 * /update_weights_from_disk, which waits for what is running and drops its cache.
 *
 * @throws ConfigError if the engine says that it cannot
 */
export function weightPublisher(engine: RemotePolicy, options: PublishOptions): WeightPublisher {
  const { report, http } = engine;
  const found = report.capabilities.find(({ name }) => name === 'reloading');
  if (found?.state === 'no') {
    throw new ConfigError(
      'engine',
      `${report.server} at ${http.url} cannot load new weights: ${found.detail} ${found.remedy}`,
    );
  }
  const { directory, engineDirectory = directory, remove } = options;
  let previous: string | undefined;
  return {
    async publish(policy) {
      const { version } = policy;
      const name = `version-${String(version).padStart(8, '0')}`;
      const target = `${directory.replace(/\/+$/, '')}/${name}`;
      await policy.save(target);
      const seen = `${engineDirectory.replace(/\/+$/, '')}/${name}`;
      await (engine.dialect.name === 'vllm'
        ? reloadVllm(engine, seen, version)
        : reloadSglang(engine, seen, version));
      engine.setVersion(version);
      if (previous !== undefined && previous !== target) await remove?.(previous);
      previous = target;
    },
  };
}

async function reloadVllm(
  { http, report }: RemotePolicy,
  directory: string,
  version: number,
): Promise<void> {
  await http.post('/pause?mode=wait', '{}');
  try {
    const call = { method: 'reload_weights', kwargs: { weights_path: directory } };
    await http.post('/collective_rpc', JSON.stringify(call));
    if (report.paths.includes('/update_weight_version')) {
      await http.post('/update_weight_version', JSON.stringify({ new_version: String(version) }));
    }
    // Keys and values of the old weights are nobody's any more. It answers without a body.
    await http.send('/reset_prefix_cache', '{}');
  } finally {
    await http.post('/resume', '{}');
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
