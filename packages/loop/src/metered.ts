/** The parts of a run whose work is counted: what samples, and what gives it new weights. */
import type { SampleRequest, Sampler } from '@saccade/policy';
import type { Run } from './run.ts';
import type { RunParts } from './run-parts.ts';

/** The sampler of a run; the seconds of its requests are counted where the run counts work. */
export function meteredSampler({ sampler, work }: Pick<RunParts, 'sampler' | 'work'>): Sampler {
  if (work === undefined) return sampler;
  return {
    get version() {
      return sampler.version;
    },
    processor: sampler.processor,
    release: (key) => sampler.release(key),
    sample: (request: SampleRequest) => work.timed('request', () => sampler.sample(request)),
  };
}

/** Gives the sampler the policy's weights. */
export function publish({ parts }: Pick<Run, 'parts'>): Promise<void> {
  const { work } = parts;
  const sync = () => parts.syncSampler();
  return work === undefined ? sync() : work.timed('publish', sync);
}
