/** Runs the checks against a server, whoever wrote it. */
import { messageOf } from '@saccade/core';
import type { LocalPolicy, TrainedPolicy } from '@saccade/policy';
import type { TinkerClientOptions } from '../client/tinker-client.ts';
import { type LoraRequest, type ModelRequest, openTinkerClient } from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import {
  type ConformanceBounds,
  type ConformanceCheck,
  type ConformanceContext,
  float32Bounds,
  type Requirement,
} from './conformance-check.ts';
import * as all from './conformance-checks.ts';

/** All checks, by their numbers. */
export const conformanceChecks: readonly ConformanceCheck[] = Object.values(all).sort(
  (a, b) => a.number - b.number,
);

/** The server, the model to make there, and what to compare it with. */
export interface ConformanceOptions extends TinkerClientOptions {
  readonly processor: TrainedPolicy['processor'];
  /** Default: the first base of the server, whole. */
  readonly request?: ModelRequest;
  /** Opens the same weights on local kernels; default: checks that compare are skipped. */
  readonly local?: () => Promise<LocalPolicy>;
  /** Default: those for weights in 32 bits. */
  readonly bounds?: Partial<ConformanceBounds>;
  /** Default: all. */
  readonly checks?: readonly ConformanceCheck[];
  readonly onResult?: (result: ConformanceResult) => void;
}

/** How a check ended. */
export interface ConformanceResult {
  readonly number: number;
  readonly name: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** What was measured, what was wrong, or what is missing. */
  readonly detail: string;
}

/** @throws HttpError if there is no server */
export async function runConformance(
  options: ConformanceOptions,
): Promise<readonly ConformanceResult[]> {
  const { processor, checks = conformanceChecks, local, onResult } = options;
  const client = await openTinkerClient(options);
  const { capabilities, isOurs } = client;
  const request = options.request ?? { baseModel: capabilities.models[0] ?? '' };
  const context: ConformanceContext = {
    client,
    request,
    processor,
    vocabulary: capabilities.vocabSize ?? processor.codec.vocabSize,
    channel: isOurs ? 'backward' : 'cross_entropy',
    bounds: { ...float32Bounds, ...options.bounds },
    ...(local !== undefined && { local }),
    async withModel<Result>(
      use: (model: TinkerModel) => Promise<Result>,
      lora: LoraRequest | undefined = request.lora,
    ) {
      const model = await client.createModel({ ...request, ...(lora && { lora }) });
      try {
        return await use(model);
      } finally {
        await model.unload();
      }
    },
  };
  const has: Readonly<Record<Requirement, boolean>> = {
    extension: isOurs,
    images: processor.imageToken !== undefined,
    gradients: capabilities.extensions.includes('gradients'),
    local: local !== undefined,
    sampling: true,
  };
  const results: ConformanceResult[] = [];
  try {
    for (const check of checks) {
      const missing = check.needs?.find((need) => !has[need]);
      const result = missing === undefined ? await tried(check, context) : skipped(check, missing);
      results.push(result);
      onResult?.(result);
    }
  } finally {
    client.dispose();
  }
  return results;
}

const MISSING: Readonly<Record<Requirement, string>> = {
  extension: 'the server does not have the extension saccade/1',
  images: 'the model takes no images',
  gradients: 'the server was not started to show gradients',
  local: 'there are no local weights to compare with',
  sampling: 'the server does not sample',
};

function skipped({ number, name }: ConformanceCheck, missing: Requirement): ConformanceResult {
  return { number, name, status: 'skipped', detail: MISSING[missing] };
}

async function tried(
  check: ConformanceCheck,
  context: ConformanceContext,
): Promise<ConformanceResult> {
  const { number, name } = check;
  try {
    return { number, name, status: 'ok', detail: await check.run(context) };
  } catch (error) {
    return { number, name, status: 'failed', detail: messageOf(error) };
  }
}
