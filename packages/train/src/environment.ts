/** `environment.json`: what a run ran on, and when it was started and resumed. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { writeDurably } from './durable-files.ts';
import type { Parts } from './parts.ts';

interface Attempt {
  readonly startedAt: string;
  /** Step of the checkpoint it went on from; 0 for a fresh start. */
  readonly fromStep: number;
}

/** The machine and versions of the latest attempt, and all attempts. */
interface Environment {
  readonly saccade: string;
  readonly node: string;
  readonly python: string;
  readonly platform: string;
  readonly machine: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly backend: string;
  readonly sandboxTier: string;
  readonly parameters: number;
  readonly vocabulary: number;
  readonly startedAt: string;
  readonly attempts: readonly Attempt[];
}

function readAttempts(path: string): readonly Attempt[] {
  if (!existsSync(path)) return [];
  return (JSON.parse(readFileSync(path, 'utf8')) as Partial<Environment>).attempts ?? [];
}

/** Adds an attempt to a run's environment file. */
export function recordAttempt(
  directory: string,
  parts: Pick<Parts, 'device' | 'sandbox' | 'policy'>,
  { python, fromStep }: { readonly python: string; readonly fromStep: number },
): void {
  const path = join(directory, 'environment.json');
  const require = createRequire(import.meta.url);
  const { version } = require('../package.json') as { version: string };
  const attempt: Attempt = { startedAt: new Date().toISOString(), fromStep };
  const environment: Environment = {
    saccade: version,
    node: process.versions.node,
    python,
    platform: `${process.platform} ${release()} ${process.arch}`,
    machine: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    backend: parts.device.backend.description,
    sandboxTier: parts.sandbox.tier,
    parameters: parts.policy.parameterCount,
    vocabulary: parts.policy.config.vocabSize,
    startedAt: attempt.startedAt,
    attempts: [...readAttempts(path), attempt],
  };
  writeDurably(path, `${JSON.stringify(environment, null, 2)}\n`);
}
