/** Publishes a served policy's weights to engines, and asks each what it serves afterwards. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import { HttpClient } from '@saccade/http';
import type { PublishTarget, TrainedPolicy } from '@saccade/policy';
import { openRemotePolicy, type RemotePolicy, weightPublisher } from '@saccade/policy/remote';

type Served = { readonly url: string; readonly version: string };

/** The name that engines know the adapter by. */
const ADAPTER = 'saccade';

/**
 * Writes the weights once and lets every engine load them.
 *
 * @throws UnsupportedError for a kind that needs a device of the engine's; EngineError if an engine
 *   does not load them
 */
export async function publishTo(
  policy: TrainedPolicy,
  { kind, urls, directory }: PublishTarget & { readonly directory: string },
): Promise<readonly Served[]> {
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
  for (const url of urls) {
    const engine = await openRemotePolicy({ baseUrl: url, processor: policy.processor });
    const publisher = weightPublisher(engine, {
      directory,
      remove: (old) => rm(old, { recursive: true, force: true }),
    });
    await publisher.publish(policy);
    served.push({ url, version: await versionOf(engine, policy) });
  }
  return served;
}

async function publishAdapter(
  policy: TrainedPolicy,
  urls: readonly string[],
  directory: string,
): Promise<readonly Served[]> {
  const { version } = policy;
  const path = join(directory, `adapter-${version}`);
  await policy.save(path);
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
  return urls.map((url) => ({ url, version: String(version) }));
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
