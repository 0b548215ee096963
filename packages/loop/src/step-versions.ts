/** Policy versions as asynchronous training counts them: batches learned from. */
import type { SampleRequest, SampleResult, Sampler } from '@saccade/policy';

/**
 * A batch may be learned from in several optimizer steps, and the policy counts those. Staleness is
 * a number of batches: weights between two of a batch's steps count as those before it.
 */
export class StepVersions {
  readonly #policy: Sampler;
  /** The policy's version at which each batch count begins, oldest first. */
  readonly #starts: { readonly policyVersion: number; readonly batches: number }[] = [];

  constructor(policy: Sampler) {
    this.#policy = policy;
  }

  /** Records that the present weights have learned from `batches` batches. */
  begin(batches: number): void {
    this.#starts.push({ policyVersion: this.#policy.version, batches });
  }

  /** The policy, its versions counted in batches. */
  get sampler(): Sampler {
    const policy = this.#policy;
    const batchesAt = (version: number): number => this.#batchesAt(version);
    return {
      get version() {
        return batchesAt(policy.version);
      },
      processor: policy.processor,
      release: (key) => policy.release(key),
      async sample(request: SampleRequest): Promise<SampleResult> {
        const result = await policy.sample(request);
        return { ...result, policyVersion: batchesAt(result.policyVersion) };
      },
    };
  }

  #batchesAt(version: number): number {
    return this.#starts.findLast(({ policyVersion }) => policyVersion <= version)?.batches ?? 0;
  }
}
