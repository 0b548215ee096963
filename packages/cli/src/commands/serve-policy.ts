/** The options of `saccade serve policy`. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { ServePolicyFlags } from '../serve-policy.ts';
import { wholeNumber } from '../shared.ts';
import { addBackendOption } from './backend-option.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';

export function addServePolicy(serve: LazyCommand): void {
  const command = serve
    .command('policy')
    .description('Sample from a policy: vLLM’s and SGLang’s protocols, token ids in and out.')
    .argument('<path>', 'a run directory (its newest checkpoint), a checkpoint, or a policy');
  addBackendOption(addListenOptions(command, { port: 8710, tokenVariable: 'SACCADE_POLICY_TOKEN' }))
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
    .action(async (path: string, flags: ServePolicyFlags) =>
      (await import('../serve-policy.ts')).servePolicy(resolve(path), flags),
    );
}
