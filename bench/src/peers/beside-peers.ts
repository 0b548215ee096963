/** Our launches and a peer's in turns, so that whatever else the machine does hits both. */
import { type DType, MissingError } from '@saccade/core';
import {
  type Device,
  type DeviceArray,
  type DeviceArrays,
  formOf,
  resolveScalars,
} from '@saccade/ops';
import { relativeError } from '@saccade/ops/contract';
import type { MeasureOptions } from '../measure.ts';
import type { Pass, PreparedCase } from '../prepared-case.ts';
import { pairedRatio, type Sample, summarize } from '../statistics.ts';
import { takeTurns } from '../take-turns.ts';
import { timeOnce } from '../time-once.ts';
import type { Peer, PeerArray, PeerResult, PeerRun, PeerTask } from './peer.ts';

/** A peer this many times slower, and longer than this, is not asked again: more tells nothing. */
const FAR_BEHIND = 20;
const LONG_SECONDS = 1;
/** Different sums in another order differ by this much; a wrong answer by far more. */
const MOST_DIFFERENCE: Readonly<Partial<Record<DType, number>>> = {
  f32: 1e-3,
  f16: 1e-2,
  bf16: 3e-2,
};

export interface BesidePeers {
  /** Our time in the turns beside the peers; absent if no peer has the op. */
  readonly ours?: Sample;
  readonly peers: readonly PeerResult[];
}

/** Times those peers that have the op and give our result. */
export async function runBesidePeers(
  device: Device,
  prepared: PreparedCase,
  pass: Pass,
  peers: readonly Peer[],
  options: MeasureOptions,
): Promise<BesidePeers> {
  const task = await taskOf(device, prepared, pass);
  // Ops that work in place have moved on: one launch from what the peers get gives the result.
  prepared.launch(pass);
  const expected = await resultsOf(device, prepared, pass);
  const ourTurn = (launches: number): Promise<number> =>
    timeOnce(
      () => prepared.launch(pass),
      () => device.synchronize(),
      launches,
    );
  const found: PeerResult[] = [];
  const running: { peer: Peer; run: PeerRun; difference: number }[] = [];
  try {
    for (const peer of peers) {
      // One that ends instead of getting ready takes no other with it.
      const run = await peer.prepare(task).catch((error: unknown) => {
        if (!(error instanceof MissingError)) throw error;
        return error.message.split('\n').at(-1) ?? error.message;
      });
      if (typeof run === 'string') {
        found.push({ peer: peer.name, missing: run });
        continue;
      }
      const difference = compare(task, run, expected);
      if (typeof difference === 'string') {
        found.push({ peer: peer.name, missing: difference });
        await run.dispose();
        continue;
      }
      const first = run.firstSeconds ?? (await run.time(1));
      const once = await ourTurn(1);
      if (first > LONG_SECONDS && first > FAR_BEHIND * once) {
        const [seconds, ratio] = [summarize([first]), pairedRatio([first], [once])];
        found.push({ peer: peer.name, seconds, ratio, difference, ...noteOf(run) });
        await run.dispose();
        continue;
      }
      running.push({ peer, run, difference });
    }
    const order = peers.map(({ name }) => name);
    const inOrder = (): readonly PeerResult[] =>
      found.sort((a, b) => order.indexOf(a.peer) - order.indexOf(b.peer));
    if (running.length === 0) return { peers: inOrder() };
    const turns = [ourTurn, ...running.map(({ run }) => run.time.bind(run))];
    const [ours = [], ...theirs] = await takeTurns(turns, options);
    running.forEach(({ peer, run, difference }, i) => {
      const times = theirs[i] ?? [];
      const [seconds, ratio] = [summarize(times), pairedRatio(times, ours)];
      found.push({ peer: peer.name, seconds, ratio, difference, ...noteOf(run) });
    });
    return { ours: summarize(ours), peers: inOrder() };
  } finally {
    for (const { run } of running) await run.dispose();
  }
}

async function taskOf(device: Device, prepared: PreparedCase, pass: Pass): Promise<PeerTask> {
  const { op, opCase, dtype, inputs, gradOutputs } = prepared;
  return {
    op: op.id,
    pass,
    dtype,
    dims: opCase.dims,
    scalars: resolveScalars(op, opCase.scalars),
    inputs: await readAll(device, inputs),
    gradOutputs: pass === 'forward' ? {} : await readAll(device, gradOutputs),
  };
}

async function readAll(device: Device, arrays: DeviceArrays): Promise<Record<string, PeerArray>> {
  const read: Record<string, PeerArray> = {};
  for (const [name, array] of Object.entries(arrays)) {
    if (array === undefined) continue;
    const data = await device.backend.read(array.view);
    read[name] = { dtype: array.view.dtype, shape: array.shape, data };
  }
  return read;
}

/** Our outputs, or our gradients, as numbers. */
async function resultsOf(
  device: Device,
  { op, outputs, gradInputs }: PreparedCase,
  pass: Pass,
): Promise<Record<string, ArrayLike<number>>> {
  const [names, arrays] =
    pass === 'forward'
      ? [formOf(op).outputs, outputs]
      : [formOf(op).differentiableInputs, gradInputs];
  const results: Record<string, ArrayLike<number>> = {};
  for (const name of names) {
    const array: DeviceArray | undefined = arrays[name];
    if (array !== undefined) results[name] = await device.read(array);
  }
  return results;
}

const noteOf = ({ note }: PeerRun): Pick<PeerRun, 'note'> => (note === undefined ? {} : { note });

/** The largest relative difference, or what is wrong: nobody is timed on a wrong answer. */
function compare(
  { dtype }: PeerTask,
  { results }: PeerRun,
  expected: Readonly<Record<string, ArrayLike<number>>>,
): number | string {
  const all = Object.entries(results);
  let largest = all.length === 0 ? Number.NaN : 0;
  for (const [name, got] of all) {
    const ours = expected[name];
    const difference = ours === undefined ? Number.POSITIVE_INFINITY : relativeError(got, ours);
    if (!(difference <= (MOST_DIFFERENCE[dtype] ?? 0))) {
      return `gives another ${name} than ours, by ${difference.toPrecision(2)}, and is not timed`;
    }
    largest = Math.max(largest, difference);
  }
  return largest;
}
