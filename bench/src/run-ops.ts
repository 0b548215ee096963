/** Times every bench case of the chosen ops, forward and backward, for each storage type. */
import { type DType, UnsupportedError } from '@saccade/core';
import type { Cost, Device, Op, OpCase } from '@saccade/ops';
import { type Accuracy, isWithin, measureAccuracy } from './accuracy.ts';
import { measureBesidePeaks } from './beside-peaks.ts';
import { storageTypes } from './catalog-ops.ts';
import type { Ceilings } from './ceilings.ts';
import { type MeasureOptions, measure } from './measure.ts';
import { runBesidePeers } from './peers/beside-peers.ts';
import type { BrowserPeers } from './peers/browser-peers.ts';
import type { Peer, PeerResult } from './peers/peer.ts';
import {
  directionsOf,
  type Pass,
  type PreparedCase,
  prepareCase,
  shortCase,
} from './prepared-case.ts';
import { boundBy, shareOfRoofline } from './roofline.ts';
import { type Sample, summarize } from './statistics.ts';

/** One case, pass and storage type. */
export interface OpResult {
  readonly op: string;
  readonly case: string;
  readonly pass: Pass;
  readonly dtype: DType;
  readonly seconds: Sample;
  /** The work that every kernel must do, and the bytes of all operands. */
  readonly cost: Cost;
  readonly workingSetBytes: number;
  /** Of the roofline, where its peaks were measured in turns with the case. */
  readonly sharesInTurns?: Sample;
  /** Set by {@link addRoofline}. */
  readonly shareOfRoofline?: number;
  readonly boundBy?: 'compute' | 'memory';
  /** Beside the operands. */
  readonly workspaceBytes?: number;
  readonly accuracy: Accuracy;
  readonly peers?: readonly PeerResult[];
}

export interface RunOptions extends MeasureOptions {
  readonly dtypes?: readonly DType[];
  readonly peers?: readonly Peer[];
  readonly browser?: BrowserPeers;
  /** Measured anew in turns with each case; for runs without peers. */
  readonly peaksInTurns?: Ceilings;
  /** Called before each measurement with what it is. */
  readonly onStart?: (what: string) => void;
  /** Once aborted, no other measurement begins; those there are, are the result. */
  readonly signal?: AbortSignal;
  /** Called for what the backend cannot run. */
  readonly onSkip?: (what: string, why: string) => void;
}

/** A job to time: an op, one of its shapes, and the passes that matter. */
export interface Job {
  readonly op: Op;
  readonly opCase: OpCase;
  readonly passes?: readonly Pass[];
}

/** The bench cases of ops whose `id case` holds all words of some comma-separated part of a filter. */
export function jobsOf(ops: readonly Op[], filter = ''): readonly Job[] {
  const parts = filter.split(',').map((part) => part.toLowerCase().trim().split(/\s+/));
  const jobs = ops.flatMap((op) => (op.benchCases ?? []).map((opCase) => ({ op, opCase })));
  return jobs.filter(({ op, opCase }) => {
    const name = `${op.id} ${shortCase(opCase)}`.toLowerCase();
    return parts.some((words) => words.every((word) => name.includes(word)));
  });
}

/** The most work that a CPU emulating a GPU, about 1 GFLOP/s, does in well under a second. */
const SLOW_REACH: Cost = { flops: 2.5e8, bytes: 4e7 };

/** The jobs that such a device can do a few dozen times. */
export function jobsForSlow(jobs: readonly Job[]): readonly Job[] {
  return jobs.filter(({ op, opCase }) => isWithin(SLOW_REACH, op, opCase));
}

/** @throws ContractError if a kernel gives wrong numbers */
export async function runJobs(
  device: Device,
  jobs: readonly Job[],
  options: RunOptions,
): Promise<readonly OpResult[]> {
  const results: OpResult[] = [];
  for (const [index, job] of jobs.entries()) {
    const onStart = (what: string): void =>
      options.onStart?.(`case ${index + 1} of ${jobs.length}: ${what}`);
    const known = storageTypes(job.op);
    for (const dtype of (options.dtypes ?? known).filter((wanted) => known.includes(wanted))) {
      if (options.signal?.aborted) return results;
      const what = `${job.op.id} ${shortCase(job.opCase)} ${dtype}`;
      try {
        results.push(...(await runJob(device, job, dtype, { ...options, onStart })));
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        options.onSkip?.(what, error.message);
      }
    }
  }
  return results;
}

async function runJob(
  device: Device,
  { op, opCase, passes }: Job,
  dtype: DType,
  options: RunOptions,
): Promise<readonly OpResult[]> {
  const what = `${op.id} ${shortCase(opCase)} ${dtype}`;
  options.onStart?.(`${what}: against float64`);
  const accuracy = await measureAccuracy(device, op, opCase, dtype);
  const prepared = prepareCase(device, op, opCase, dtype, passes);
  try {
    const results: OpResult[] = [];
    for (const pass of prepared.passes) {
      if (options.signal?.aborted) break;
      options.onStart?.(`${what} ${pass}`);
      results.push(await measureOne(device, prepared, pass, accuracy, options));
    }
    return results;
  } finally {
    prepared.dispose();
  }
}

async function measureOne(
  device: Device,
  prepared: PreparedCase,
  pass: Pass,
  accuracy: Accuracy,
  options: RunOptions,
): Promise<OpResult> {
  const { op, opCase, dtype } = prepared;
  const beside =
    options.peers === undefined || options.peers.length === 0
      ? undefined
      : await runBesidePeers(device, prepared, pass, options.peers, options);
  const { rounds, seconds: time } = options;
  const task = { op: op.id, case: shortCase(opCase), dtype, pass, rounds, seconds: time };
  const elsewhere = (await options.browser?.measure(task)) ?? [];
  const peers = [...(beside?.peers ?? []), ...elsewhere];
  const launch = (): void => prepared.launch(pass);
  const wait = (): Promise<void> => device.synchronize();
  const bytes = prepared.workingSet(pass);
  const { peaksInTurns } = options;
  const besidePeaks =
    peaksInTurns === undefined
      ? undefined
      : await measureBesidePeaks(
          launch,
          wait,
          () => peaksInTurns.now(dtype, bytes),
          prepared.cost(pass),
          options,
        );
  // Where something ran in turns with it, those turns are the measurement.
  const seconds =
    beside?.ours ?? besidePeaks?.seconds ?? summarize(await measure(launch, wait, options));
  const workspaceBytes = await measureWorkspace(device, prepared, pass);
  return {
    op: op.id,
    case: shortCase(opCase),
    pass,
    dtype,
    seconds,
    cost: prepared.cost(pass),
    workingSetBytes: bytes,
    ...(besidePeaks && { sharesInTurns: besidePeaks.shares }),
    ...(workspaceBytes !== undefined && { workspaceBytes }),
    accuracy,
    ...(peers.length > 0 && { peers }),
  };
}

/** The most that a launch of the pass took, where the backend knows. */
async function measureWorkspace(
  device: Device,
  prepared: PreparedCase,
  pass: Pass,
): Promise<number | undefined> {
  let most: number | undefined;
  for (const direction of directionsOf(pass)) {
    prepared.launch(direction);
    await device.synchronize();
    const bytes = device.backend.workspaceBytes?.();
    if (bytes !== undefined) most = Math.max(most ?? 0, bytes);
  }
  return most;
}

/**
 * The results with their shares of the roofline. At the end of a run: a peak is the best of all
 * measurements, and each may have met something else that ran.
 */
export function addRoofline(
  results: readonly OpResult[],
  ceilings: Ceilings | undefined,
): readonly OpResult[] {
  if (ceilings === undefined) return results;
  for (const { dtype, workingSetBytes } of results) ceilings.of(dtype, workingSetBytes);
  return results.map((result) => {
    const ceiling = ceilings.of(result.dtype, result.workingSetBytes);
    const { cost, seconds, sharesInTurns } = result;
    return {
      ...result,
      shareOfRoofline: sharesInTurns?.median ?? shareOfRoofline(cost, ceiling, seconds.median),
      boundBy: boundBy(cost, ceiling),
    };
  });
}
