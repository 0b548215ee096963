/** The facts of an attempt that `environment.json` of a run keeps. */
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { type Damage, recordAttempt as recordStored } from '@saccade/run-store';
import type { Parts } from './parts.ts';

/** Adds an attempt to a run's environment file; gives what could not be read or written of it. */
export function recordAttempt(
  directory: string,
  parts: Pick<Parts, 'device' | 'sandbox' | 'policy' | 'taskSet'>,
  { fromStep }: { readonly fromStep: number },
): readonly Damage[] {
  const { parameterCount, vocabSize } = parts.policy;
  const require = createRequire(import.meta.url);
  const { version } = require('../package.json') as { version: string };
  const facts = {
    saccade: version,
    node: process.versions.node,
    platform: `${process.platform} ${release()} ${process.arch}`,
    machine: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    backend: parts.device.backend.description,
    sandboxTier: parts.sandbox.tier,
    ...(parameterCount !== undefined && { parameters: parameterCount }),
    ...(vocabSize !== undefined && { vocabulary: vocabSize }),
    // With the licenses of what is trained on.
    ...(parts.taskSet.facts && { datasets: parts.taskSet.facts() }),
  };
  return recordStored(directory, facts, fromStep);
}
