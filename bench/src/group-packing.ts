/** Attention over a group with its prompt packed once, beside a prompt for each response. */
import { planSharedPrefix, planVarlen, type SegmentPlan } from '@saccade/attention';
import { type DType, UnsupportedError } from '@saccade/core';
import type { Device, Op, OpCase } from '@saccade/ops';
import { allOps, storageTypes } from './catalog-ops.ts';
import { prepareCase } from './prepared-case.ts';
import type { Heads } from './rows/cases.ts';
import type { RunOptions } from './run-ops.ts';
import { pairedRatio, type Ratio, type Sample, summarize } from './statistics.ts';
import { takeTurns } from './take-turns.ts';
import { timeOnce } from './time-once.ts';

/** A group whose prompt is packed once, beside the same group with a prompt for each response. */
export interface SharedPrefixResult {
  readonly shape: GroupShape;
  readonly dtype: DType;
  readonly shared: Sample;
  readonly repeated: Sample;
  /** Repeated / shared, of turns next to each other. */
  readonly ratio: Ratio;
  /** Pairs of query and key, repeated / shared: what a perfect kernel gains. */
  readonly pairRatio: number;
}

export interface GroupShape {
  /** Tokens of the prompt and of each response. */
  readonly prefix: number;
  readonly response: number;
  readonly group: number;
  readonly heads: Heads;
}

/** Both packings of a group as cases of `attention`. */
export function groupCases(shape: GroupShape): { shared: OpCase; repeated: OpCase } {
  const { prefix, response, group, heads } = shape;
  const caseOf = ({ segments, segmentCount, tokenCount }: SegmentPlan): OpCase => ({
    dims: { T: tokenCount, ...heads, S: segmentCount, P: 3 },
    indices: { segments },
    gradOf: ['out'],
  });
  const responseLengths = Array<number>(group).fill(response);
  return {
    shared: caseOf(planSharedPrefix({ prefixLength: prefix, responseLengths })),
    repeated: caseOf(planVarlen(Array<number>(group).fill(prefix + response))),
  };
}

/** Forward and backward of attention for both packings, in turns; those the backend can run. */
export async function measureSharedPrefix(
  device: Device,
  shape: GroupShape,
  { dtypes, ...options }: Pick<RunOptions, 'dtypes' | 'rounds' | 'seconds' | 'onSkip'>,
): Promise<readonly SharedPrefixResult[]> {
  const op = allOps.find(({ id }) => id === 'attention') as Op;
  const cases = groupCases(shape);
  const results: SharedPrefixResult[] = [];
  for (const dtype of (dtypes ?? storageTypes(op)).filter((t) => storageTypes(op).includes(t))) {
    try {
      const shared = prepareCase(device, op, cases.shared, dtype, ['both']);
      const repeated = prepareCase(device, op, cases.repeated, dtype, ['both']);
      const turn = (prepared: typeof shared) => (launches: number) =>
        timeOnce(
          () => prepared.launch('both'),
          () => device.synchronize(),
          launches,
        );
      const [once = [], often = []] = await takeTurns([turn(shared), turn(repeated)], options);
      results.push({
        shape,
        dtype,
        shared: summarize(once),
        repeated: summarize(often),
        ratio: pairedRatio(often, once),
        pairRatio: repeated.cost('both').flops / shared.cost('both').flops,
      });
      shared.dispose();
      repeated.dispose();
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      options.onSkip?.(`attention with a shared prefix, ${dtype}`, error.message);
    }
  }
  return results;
}
