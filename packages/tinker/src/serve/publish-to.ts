/** Publishes a served policy's weights to engines, and asks each what it serves afterwards. */
import { join } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import { HttpClient } from '@saccade/http';
import type { PublishTarget, TrainedPolicy } from '@saccade/policy';
import {
  isGone,
  openRemotePolicy,
  type RemotePolicy,
  resumeEngine,
  weightPublisher,
} from '@saccade/policy/remote';
import { TinkerError } from '../wire/tinker-error.ts';
import { writing } from './saved-paths.ts';

type Served = { readonly url: string; readonly version: string };

/** The name that engines know the adapter by. */
const ADAPTER = 'saccade';

/** What engines say they serve, and the directory that the weights were written to for them. */
interface PublishedWeights {
  readonly served: readonly Served[];
  readonly written: string;
}

/**
 * Writes the weights once and lets every engine load them.
 *
 * @throws UnsupportedError for a kind that needs a device of the engine's; EngineError if an engine
 *   does not load them; TinkerError `engine-lost` if it goes away meanwhile
 */
export async function publishTo(
  policy: TrainedPolicy,
  { kind, urls, directory }: PublishTarget & { readonly directory: string },
): Promise<PublishedWeights> {
  if (kind === 'nccl') {
    throw new UnsupportedError(
      'This server has no NCCL: its kernels are its own. Publish to a directory: kind "disk".',
    );
  }
  if (kind === 'lora' && !policy.hasAdapter) {
    throw new UnsupportedError('The policy has no adapter. Publish whole weights: kind "disk".');
  }
  if (kind === 'lora') return await publishAdapter(policy, urls, directory);
  const served: Served[] = [];
  const { version } = policy;
  let written = '';
  for (const url of urls) {
    try {
      await resumeEngine({ baseUrl: url });
      const engine = await openRemotePolicy({ baseUrl: url, processor: policy.processor });
      const isWritten = written !== '';
      const save: TrainedPolicy['save'] = async (into, options) => {
        if (!isWritten) await writing(into, () => policy.save(into, options));
      };
      const source = { version, save };
      written = await weightPublisher(engine, { directory }).publish(source);
      served.push({ url, version: await versionOf(engine, policy) });
    } catch (error) {
      throw lostEngine(error);
    }
  }
  return { served, written };
}

/** The error of an engine that went away, so that a client waits for it; any other as it is. */
function lostEngine(error: unknown): unknown {
  if (!isGone(error)) return error;
  return new TinkerError('server', error.message, { code: 'engine-lost', cause: error });
}

async function publishAdapter(
  policy: TrainedPolicy,
  urls: readonly string[],
  directory: string,
): Promise<PublishedWeights> {
  const { version } = policy;
  const path = join(directory, `adapter-${version}`);
  await writing(path, () => policy.save(path));
  for (const url of urls) {
    const http = new HttpClient({ baseUrl: url });
    const body = { lora_name: ADAPTER, lora_path: path, load_inplace: true };
    await http.text({
      method: 'POST',
      path: '/v1/load_lora_adapter',
      body: JSON.stringify(body),
    });
  }
  // vLLM tells no version of an adapter; that it took this one is all there is to know.
  return { served: urls.map((url) => ({ url, version: String(version) })), written: path };
}

/** The version that an engine samples with, asked by one token. */
async function versionOf(engine: RemotePolicy, policy: TrainedPolicy): Promise<string> {
  const { policyVersion } = await engine.sample({
    tokens: Int32Array.of(policy.processor.endOfTurn),
    images: [],
    maxTokens: 1,
    stop: [],
    temperature: 0,
    seed: [0, 0],
    conversation: 'published',
  });
  engine.release('published');
  return String(policyVersion);
}
