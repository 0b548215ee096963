/**
 * A process with the real server of learners: it reads and checks requests as any, and answers with
 * log-probs that nobody computed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import type { PackedBatch, Scores, TrainedPolicy } from '@saccade/policy';
import { openLearnerService } from '@saccade/tinker/serve';
import { payloadProcessor, VOCABULARY } from './payload.ts';

function madePolicy(processor: TrainedPolicy['processor']): TrainedPolicy {
  let version = 0;
  const scores = ({ targets }: PackedBatch): Scores => ({
    logprobs: Float32Array.from(targets, (token) => -1 - (token % 1009) / 1009),
    entropy: Float32Array.from(targets, (token) => 1 + (token % 997) / 997),
  });
  const none = (): never => {
    throw new UnsupportedError('This server has no model.');
  };
  return {
    get version() {
      return version;
    },
    processor,
    vocabSize: VOCABULARY,
    hasAdapter: false,
    samplesAsItScores: false,
    configureEngine: none,
    sample: none,
    openReference: none,
    release() {},
    resetOptimizer() {},
    score: async (batch) => scores(batch),
    async forwardBackward(batch, loss) {
      const own = scores(batch);
      return { ...own, loss: loss(own).loss };
    },
    async optimizerStep() {
      version++;
      return { gradNorm: 1, isSkipped: false };
    },
    async save(directory) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'version.json'), `${version}`);
    },
    async load() {},
    dispose() {},
  };
}

const directory = mkdtempSync(join(tmpdir(), 'saccade-bench-client-'));
const processor = payloadProcessor();
const service = await openLearnerService({
  directory,
  maxModels: 8,
  // Random images of many steps: a server with a device would hold them, a measurement need not.
  maxBlobBytes: 512 * 2 ** 20,
  models: {
    names: ['made'],
    vocabSize: VOCABULARY,
    open: async () => ({
      policy: madePolicy(processor),
      reference: async () => madePolicy(processor),
    }),
  },
});
process.once('disconnect', async () => {
  await service.drain();
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
process.send?.(service.url);
