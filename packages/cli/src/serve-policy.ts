/** `saccade serve policy`: a policy of ours as an engine, in the words of vLLM and SGLang. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { engineSettings, hasAdapter, hasWeights } from '@saccade/policy';
import { openPolicyService } from '@saccade/policy/serve';
import { checkpointsOf, findLatestCheckpoint } from '@saccade/run-store';
import { backends, openBackend, openPolicyIn } from '@saccade/train';
import { type Command, Option } from 'commander';
import { addListenOptions, type ListenFlags, listen } from './listen.ts';
import { wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface ServePolicyFlags extends ListenFlags {
  readonly backend: string;
  readonly threads?: number;
  readonly speaks: 'vllm' | 'sglang' | 'both';
  readonly model?: string;
  readonly kvCache?: string;
  readonly kvCacheTokens?: number;
  readonly sampleWeights?: string;
  readonly prefillChunkTokens?: number;
}

export function addServePolicy(serve: Command): void {
  const command = serve
    .command('policy')
    .description('Sample from a policy: vLLM’s and SGLang’s protocols, token ids in and out.')
    .argument('<path>', 'a run directory (its newest checkpoint), a checkpoint, or a policy');
  addListenOptions(command, { port: 8710, tokenVariable: 'SACCADE_POLICY_TOKEN' })
    .option('--backend <name>', `one of ${backends.names.join(', ')}`, 'native')
    .option('--threads <n>', 'kernel threads (default: one per core)', wholeNumber)
    .addOption(
      new Option('--speaks <family>', 'whose routes there are')
        .choices(['vllm', 'sglang', 'both'])
        .default('both'),
    )
    .option('--model <name>', 'its name in /v1/models (default: that of the directory)')
    .option(
      '--kv-cache <storage>',
      'f32, bf16 or f16 for keys and values (default: as activations)',
    )
    .option('--sample-weights <bits>', 'int8 or int4: decode from quantized weights')
    .option(
      '--kv-cache-tokens <n>',
      'most tokens in the cache; others wait (default: any)',
      wholeNumber,
    )
    .option(
      '--prefill-chunk-tokens <n>',
      'most prompt tokens of a pass (default: 4096)',
      wholeNumber,
    )
    .addHelpText(
      'after',
      `
Endpoints:
  vLLM     POST /v1/completions, /inference/v1/generate, /pause, /resume, /collective_rpc
           (reload_weights), /update_weight_version, /reset_prefix_cache, /abort_requests
  SGLang   POST /generate, /update_weights_from_disk, /pause_generation, /continue_generation,
           /abort_request, /flush_cache; GET /get_model_info
  both     POST /v1/chat/completions: images, tools, streaming; GET /v1/models, /health, /openapi.json

Examples:
  saccade serve policy runs/mine
  saccade eval runs/mine --engine http://127.0.0.1:8710
  saccade train smoke --set engine.baseUrl=http://127.0.0.1:8710`,
    )
    .action((path: string, flags: ServePolicyFlags) => run(resolve(path), flags));
}

async function run(path: string, flags: ServePolicyFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const directory = policyOf(path, onEvent);
  const { backend, threads, speaks, model = basename(path) } = flags;
  const device = await openBackend(backend, threads);
  try {
    const policy = await openPolicyIn(directory, device, onEvent);
    const { kvCache, kvCacheTokens, prefillChunkTokens, sampleWeights } = flags;
    policy.configureEngine(
      readSettings('policy', engineSettings, {
        ...(kvCache !== undefined && { kvCache }),
        ...(sampleWeights !== undefined && { sampleWeights }),
        ...(kvCacheTokens !== undefined && { kvCacheTokens }),
        ...(prefillChunkTokens !== undefined && { prefillChunkTokens }),
      }),
    );
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
