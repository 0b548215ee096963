/** `saccade serve learner`: policies on our kernels that clients of the Tinker protocol train. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import type { TlsOptions } from '@saccade/http/service';
import { type LocalPolicy, type LoraSettings, loadLocalPolicy } from '@saccade/policy';
import { fetchModel, parseModelSource } from '@saccade/policy/models';
import {
  type LearnerModels,
  type ModelSpec,
  openLearnerService,
  servedLocal,
} from '@saccade/tinker/serve';
import { hubOf, openBackend } from '@saccade/train';
import { expectAccessFor, type ListenFlags, listen } from './listen.ts';
import { policyOf } from './serve-policy.ts';
import { terminalProgress } from './terminal-progress.ts';

type Device = Awaited<ReturnType<typeof openBackend>>;

export interface ServeLearnerFlags extends ListenFlags {
  readonly backend: string;
  readonly threads?: number;
  readonly model?: string;
  readonly checkpoints: string;
  readonly maxModels: number;
  readonly valueHead?: boolean;
  readonly exposeGradients?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
}

export async function serveLearner(path: string, flags: ServeLearnerFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  expectAccessFor(flags);
  const tls = tlsOf(flags);
  const directory = await directoryOf(path, onEvent);
  const name = flags.model ?? (path.startsWith('hf:') ? path.slice(3) : basename(resolve(path)));
  const { backend, threads, maxModels, exposeGradients = false } = flags;
  const device = await openBackend(backend, threads);
  try {
    const models = await modelsOf(device, directory, name, flags.valueHead ?? false);
    const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
    await listen(
      flags,
      (listening) =>
        openLearnerService({
          ...listening,
          models,
          version,
          maxModels,
          exposesGradients: exposeGradients,
          directory: resolve(flags.checkpoints),
          ...(tls && { tls }),
        }),
      ({ url }) => `Learner of ${directory} at ${url} (${name})`,
    );
  } finally {
    device.dispose();
  }
}

/** Models of a base, each with weights of its own. */
async function modelsOf(
  device: Device,
  base: string,
  name: string,
  hasValues: boolean,
): Promise<LearnerModels> {
  const load = (spec: Pick<ModelSpec, 'lora' | 'from' | 'valueHead'>): Promise<LocalPolicy> => {
    const { lora, from = base, valueHead = false } = spec;
    const settings: LoraSettings | undefined = lora && {
      rank: lora.rank,
      alpha: lora.alpha ?? 32,
      rsLora: lora.rs_lora,
      targets: { language: lora.targets ?? targetsOf(lora) },
    };
    return loadLocalPolicy({
      device,
      directory: from,
      ...((valueHead || hasValues) && { valueHead: true }),
      ...(settings && { lora: settings, seed: lora?.seed ?? 0 }),
      findBase: (baseName, revision = 'main') =>
        fetchModel({ ...hubOf(process.env) }, { name: baseName, revision }),
    });
  };
  // Opened once before anything is served: a damaged base is told now.
  const first = await load({});
  const { vocabSize, model } = first;
  first.dispose();
  return {
    names: [name],
    vocabSize,
    hasValues,
    architecture: String(architectureOf(model)),
    async open(spec) {
      return servedLocal(await load(spec), () => load({}));
    },
  };
}

function architectureOf(model: LocalPolicy['model']): unknown {
  const { model_type } = model.configJson(0) as { model_type?: unknown };
  return model_type ?? 'unknown';
}

/** The layers that Tinker's switches mean. */
function targetsOf(lora: NonNullable<ModelSpec['lora']>): readonly string[] {
  const { train_attn, train_mlp } = lora;
  if (train_attn && train_mlp) return ['all-linear'];
  const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
  const mlp = ['gate_proj', 'up_proj', 'down_proj'];
  return [...(train_attn ? attention : []), ...(train_mlp ? mlp : [])];
}

async function directoryOf(path: string, onEvent: EventSink): Promise<string> {
  if (!path.startsWith('hf:')) return policyOf(resolve(path), onEvent);
  const source = parseModelSource(path, 'path');
  if (source.kind === 'directory') return resolve(source.directory);
  return await fetchModel({ ...hubOf(process.env), onEvent }, source);
}

/** @throws ConfigError if half of an identity is missing, or a file */
function tlsOf({ tlsCert, tlsKey, tlsClientCa }: ServeLearnerFlags): TlsOptions | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ConfigError('--tls-cert', 'TLS needs --tls-cert and --tls-key; one is missing.');
  }
  const read = (path: string, flag: string): string => {
    if (existsSync(path)) return readFileSync(path, 'utf8');
    throw new ConfigError(flag, `${flag}: there is no file ${join(resolve(path))}.`);
  };
  return {
    cert: read(tlsCert, '--tls-cert'),
    key: read(tlsKey, '--tls-key'),
    ...(tlsClientCa !== undefined && { clientCa: read(tlsClientCa, '--tls-client-ca') }),
  };
}
