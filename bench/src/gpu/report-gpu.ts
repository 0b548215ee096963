/** The table of a GPU for people: our times, the peers', and whether a goal was met. */
import type { PeerResult } from '../peers/peer.ts';
import type { Pass } from '../prepared-case.ts';
import type { OpResult } from '../run-ops.ts';
import { type Column, drawTable } from '../table.ts';
import { formatRange, formatRatio, formatSeconds, noteOfUndecided, threeDigits } from '../units.ts';
import type { GpuRow, RowPeer } from './gpu-rows.ts';
import type { GpuRowResult } from './gpu-table.ts';

const right = (title: string): Column => ({ title, align: 'right' });

const PASSES: Readonly<Record<Pass, string>> = {
  forward: 'forward',
  backward: 'backward',
  both: 'fwd + bwd',
};

export function drawGpuTable(rows: readonly GpuRowResult[]): string {
  const columns: Column[] = [
    { title: 'shape' },
    { title: 'pass' },
    right('ours'),
    right('p20–p80'),
    right('TFLOP/s'),
    right('GB/s'),
    { title: 'peer' },
    right('its time'),
    right('its/ours'),
    right('p20–p80'),
    right('goal'),
    { title: 'met' },
  ];
  const lines = rows.flatMap((row) => row.results.flatMap((result) => linesOf(row, result)));
  return [drawTable(columns, lines), '', ...notesOf(rows)].join('\n');
}

function linesOf(row: GpuRowResult, result: OpResult): string[][] {
  const { cost, pass, seconds } = result;
  const present = (result.peers ?? []).filter((peer) => 'seconds' in peer);
  const own = [
    `${row.title}, ${result.dtype}`,
    PASSES[pass],
    formatSeconds(seconds.median),
    formatRange(seconds.p20, seconds.p80),
    threeDigits(cost.flops / seconds.median / 1e12),
    threeDigits(cost.bytes / seconds.median / 1e9),
  ];
  if (present.length === 0) return [[...own, '–']];
  return present.map((peer, i) => [
    ...(i === 0 ? own : own.map(() => '')),
    ...peerCells(peer, row.goals[peer.peer]?.[pass]),
  ]);
}

type PresentPeer = Extract<PeerResult, { readonly seconds: unknown }>;

function peerCells({ peer, seconds, ratio }: PresentPeer, goal: number | undefined): string[] {
  return [
    peer,
    formatSeconds(seconds.median),
    formatRatio(ratio),
    `${threeDigits(ratio.p20)}–${threeDigits(ratio.p80)}`,
    goal === undefined ? '' : `${goal}×`,
    goal === undefined ? '' : ratio.median >= goal ? 'yes' : 'NO',
  ];
}

function ratiosOf({ results }: GpuRowResult): readonly PresentPeer['ratio'][] {
  const peers = results.flatMap((result) => result.peers ?? []);
  return peers.flatMap((peer) => ('missing' in peer ? [] : [peer.ratio]));
}

/** Notes on gaps in the table, and on how its numbers were measured; one line each. */
function notesOf(rows: readonly GpuRowResult[]): readonly string[] {
  const notes = rows.flatMap(({ title, results, failure }) => [
    ...(failure === undefined ? [] : [`${title}: ${failure.split('\n')[0]}`]),
    ...results.flatMap((result) =>
      (result.peers ?? []).flatMap((peer) => {
        const where = `${title}, ${PASSES[result.pass]}: ${peer.peer}`;
        if ('missing' in peer) return [`${where}: ${peer.missing}`];
        const isCompared = Number.isFinite(peer.difference);
        return [
          ...(peer.note === undefined ? [] : [`${where}: ${peer.note}`]),
          ...(isCompared ? [] : [`${where}: its results are others and are not compared`]),
        ];
      }),
    ),
  ]);
  return [
    'its/ours: time of the peer / our time, of turns next to each other; above 1 ours is faster',
    'ours: wall time of launches queued in a row and one wait; peers: CUDA events around theirs',
    ...noteOfUndecided(rows.flatMap(ratiosOf)),
    ...new Set(notes),
  ];
}

/** Describes the measurements of a row, for a run without a device. */
export function describeRow({ title, job, peers }: GpuRow): string {
  const goal = ({ name, goals }: RowPeer): string => {
    const all = Object.entries(goals).map(([pass, least]) => `${PASSES[pass as Pass]} ≥ ${least}`);
    return all.length === 0 ? name : `${name} (${all.join(', ')})`;
  };
  const passes = job.passes.map((pass) => PASSES[pass]).join(', ');
  return `${title}: ${passes}; beside ${peers.map(goal).join('; ')}`;
}
