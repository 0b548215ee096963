/** Measures the rows of the table, each beside its peers in turns. */
import { type DType, messageOf } from '@saccade/core';
import type { Device } from '@saccade/ops';
import type { Peer } from '../peers/peer.ts';
import type { TorchProcess } from '../peers/torch.ts';
import { type OpResult, runJobs } from '../run-ops.ts';
import { isLost } from './device-checks.ts';
import type { GpuRow, RowPeer } from './gpu-rows.ts';
import type { Ledger } from './ledger.ts';

export interface GpuRowResult {
  readonly title: string;
  /** One for each pass. */
  readonly results: readonly OpResult[];
  readonly goals: Readonly<Record<string, RowPeer['goals']>>;
  /** Why there are fewer results than passes, or no peers beside them. */
  readonly failure?: string;
}

export interface TableOptions {
  readonly dtype: DType;
  /** Whether the rows' goals are meant for this device. */
  readonly hasGoals: boolean;
  /** For the whole table; no row begins after it. */
  readonly seconds: number;
  /** For one pass beside its peers, about. */
  readonly passSeconds: number;
  readonly rounds: number;
  /** Starts the process of the peers, or says why there is none. */
  openTorch(): Promise<TorchProcess | string>;
  readonly onStart?: (what: string) => void;
  /** Called when all rows are measured, while the device is still warm. */
  readonly onEnd?: () => void;
}

/** A row that takes longer hangs. */
const LIMIT_SECONDS = 180;

export const failedRow = (title: string, failure: string): GpuRowResult => ({
  title,
  results: [],
  goals: {},
  failure,
});

/**
 * Measures those rows that the ledger does not have yet. A row that fails is a row with a failure; one
 * whose peers fail is measured without them, and the next gets a new process of peers.
 *
 * @returns whether the ledger is complete; not where the device was lost
 */
export async function measureRows(
  device: Device,
  rows: readonly GpuRow[],
  ledger: Ledger<GpuRowResult>,
  options: TableOptions,
): Promise<boolean> {
  const end = performance.now() + 1000 * options.seconds;
  const known = new Set(ledger.entries.map(({ title }) => title));
  const processes = new PeerProcesses(options.openTorch);
  try {
    for (const row of rows) {
      if (known.has(row.title)) continue;
      if (performance.now() > end) {
        ledger.add(failedRow(row.title, 'no time was left for it'));
        continue;
      }
      const peers = await processes.peersOf(row);
      ledger.describe({ torch: processes.about });
      const result = await ledger.run(row.title, LIMIT_SECONDS, () =>
        measureRow(device, row, peers, options),
      );
      if (result.failure === undefined) continue;
      if (await isLost(device)) return false;
      await processes.close();
    }
  } finally {
    await processes.close();
  }
  options.onEnd?.();
  ledger.finish();
  return true;
}

async function measureRow(
  device: Device,
  { title, job, peers }: GpuRow,
  open: readonly Peer[],
  { dtype, hasGoals, passSeconds, rounds, onStart }: TableOptions,
): Promise<GpuRowResult> {
  const goals = Object.fromEntries(peers.map(({ name, goals }) => [name, hasGoals ? goals : {}]));
  const row = { title, goals };
  const skipped: string[] = [];
  const measure = (beside: readonly Peer[]): Promise<readonly OpResult[]> =>
    runJobs(device, [job], {
      dtypes: [dtype],
      peers: beside,
      rounds,
      seconds: passSeconds,
      onSkip: (_, why) => skipped.push(why),
      ...(onStart && { onStart }),
    });
  const failure = (): Pick<GpuRowResult, 'failure'> =>
    skipped.length === 0 ? {} : { failure: skipped.join('\n') };
  try {
    const results = await measure(open);
    return { ...row, results, ...failure() };
  } catch (error) {
    skipped.push(messageOf(error));
  }
  // Once more alone: what failed may have been a peer.
  try {
    const results = await measure([]);
    return { ...row, results, ...failure() };
  } catch (error) {
    skipped.push(messageOf(error));
    return { ...row, results: [], ...failure() };
  }
}

/** The Python processes: one for all peers, and one for each that is compiled as it runs. */
class PeerProcesses {
  readonly #open: TableOptions['openTorch'];
  readonly #running = new Map<string, TorchProcess>();
  /** The latest process's description of itself, or the reason why there is none. */
  about: Readonly<Record<string, unknown>> = {};
  #isAbsent = false;

  constructor(open: TableOptions['openTorch']) {
    this.#open = open;
  }

  /** A row's peers, none where Python or torch is not there; what has ended is started again. */
  async peersOf({ peers }: GpuRow): Promise<readonly Peer[]> {
    const found: Peer[] = [];
    for (const { name, variant, isCompiled } of peers) {
      const process = await this.#process(isCompiled ? name : '');
      if (process !== undefined) found.push(process.peer(name, variant));
    }
    return found;
  }

  async #process(key: string): Promise<TorchProcess | undefined> {
    const running = this.#running.get(key);
    if (running !== undefined && !running.hasEnded()) return running;
    await running?.close();
    this.#running.delete(key);
    // Asked once: where there is no torch, there will be none.
    const process = this.#isAbsent ? undefined : await this.#open();
    if (typeof process === 'string') {
      this.#isAbsent = true;
      this.about = { absent: process };
    }
    if (typeof process !== 'object') return undefined;
    this.about = process.about;
    this.#running.set(key, process);
    return process;
  }

  async close(): Promise<void> {
    for (const process of this.#running.values()) await process.close();
    this.#running.clear();
  }
}
