/** `saccade serve policy`: a policy of ours as an engine, in the words of vLLM and SGLang. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { engineSettings, hasAdapter, hasWeights } from '@saccade/policy';
import { openPolicyService } from '@saccade/policy/serve';
import { checkpointsOf, findLatestCheckpoint } from '@saccade/run-store';
import { openBackend, openPolicyIn } from '@saccade/train';
import { expectAccessFor, type ListenFlags, listen } from './listen.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ServePolicyFlags extends ListenFlags {
  readonly backend: string;
  readonly threads?: number;
  readonly speaks: 'vllm' | 'sglang' | 'both';
  readonly model?: string;
  readonly kvCache?: string;
  readonly kvCacheTokens?: number;
  readonly sampleWeights?: string;
  readonly prefillChunkTokens?: number;
}

export async function servePolicy(path: string, flags: ServePolicyFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  expectAccessFor(flags);
  const engine = engineOf(flags);
  const directory = policyOf(path, onEvent);
  const { backend, threads, speaks, model = basename(path) } = flags;
  const device = await openBackend(backend, threads);
  try {
    const policy = await openPolicyIn(directory, device, onEvent);
    policy.configureEngine(engine);
    if (existsSync(join(directory, 'optimizer.json'))) {
      await policy.load(directory, { optimizer: true });
    }
    const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
    await listen(
      flags,
      (listening) => openPolicyService({ policy, model, version, speaks, ...listening }),
      ({ url }) => `Policy ${directory} at ${url} (${model})`,
    );
    policy.dispose();
  } finally {
    device.dispose();
  }
}

/** How the policy samples. @throws ConfigError naming the flag that it cannot have */
function engineOf({ kvCache, kvCacheTokens, prefillChunkTokens, sampleWeights }: ServePolicyFlags) {
  return readSettings('policy', engineSettings, {
    ...(kvCache !== undefined && { kvCache }),
    ...(sampleWeights !== undefined && { sampleWeights }),
    ...(kvCacheTokens !== undefined && { kvCacheTokens }),
    ...(prefillChunkTokens !== undefined && { prefillChunkTokens }),
  });
}

/** The policy that a path means. @throws DataError if there is none */
export function policyOf(path: string, onEvent: EventSink): string {
  if (isPolicy(path)) return path;
  const own = join(path, 'policy');
  if (isPolicy(own)) return own;
  const checkpoint = findLatestCheckpoint(checkpointsOf(path), onEvent);
  if (checkpoint !== undefined) return join(checkpoint.directory, 'policy');
  throw new DataError(
    `${path} holds no policy: neither weights nor an adapter nor a checkpoint. Check the path.`,
  );
}

const isPolicy = (directory: string): boolean => hasWeights(directory) || hasAdapter(directory);
