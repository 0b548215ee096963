/** The results of the table's rows for people. */
import type { SharedPrefixResult } from './group-packing.ts';
import type { PeerResult } from './peers/peer.ts';
import { missingOf } from './report-ops.ts';
import { rowOf, type TableRow } from './rows/table-row.ts';
import { titleOfGroup } from './rows/table-rows.ts';
import type { OpResult } from './run-ops.ts';
import type { Ratio } from './statistics.ts';
import { type Column, drawTable, right } from './table.ts';
import {
  formatBytes,
  formatPercent,
  formatRange,
  formatRatio,
  formatSeconds,
  noteOfUndecided,
  threeDigits,
} from './units.ts';

export function drawRows(
  rows: readonly TableRow[],
  results: readonly OpResult[],
  groups: readonly SharedPrefixResult[],
): string {
  const columns: Column[] = [
    { title: 'shape' },
    { title: 'pass' },
    { title: 'type' },
    right('ours'),
    right('p20–p80'),
    { title: 'peer' },
    right('its time'),
    right('its/ours'),
    right('p20–p80'),
    right('GFLOP/s'),
    right('GB/s'),
    right('roofline'),
    right('workspace'),
  ];
  const lines = results.flatMap((result) => linesOf(result, rowOf(result, rows)));
  return [
    drawTable(columns, [...lines, ...groups.map(lineOfGroup)]),
    '',
    ...notesOf(groups),
    ...noteOfUndecided([...results.flatMap(ratiosOf), ...groups.map(({ ratio }) => ratio)]),
    ...missingOf(results),
  ].join('\n');
}

/** One line for each peer that has the op, at least one. */
function linesOf(result: OpResult, row: TableRow | undefined): string[][] {
  const peers = (result.peers ?? []).flatMap((peer) => ('missing' in peer ? [] : [peer]));
  const first = (peer: PresentPeer | undefined): string[] => [
    row?.title ?? result.op,
    result.pass === 'both' ? 'fwd + bwd' : result.pass,
    result.dtype,
    formatSeconds(result.seconds.median),
    formatRange(result.seconds.p20, result.seconds.p80),
    ...cellsOf(peer),
    threeDigits(result.cost.flops / result.seconds.median / 1e9),
    threeDigits(result.cost.bytes / result.seconds.median / 1e9),
    formatPercent(result.shareOfRoofline ?? Number.NaN),
    workspaceOf(result, row),
  ];
  const others = peers.slice(1).map((peer) => ['', '', '', '', '', ...cellsOf(peer)]);
  return [first(peers[0]), ...others];
}

type PresentPeer = Extract<PeerResult, { ratio: Ratio }>;

function ratiosOf({ peers = [] }: OpResult): readonly Ratio[] {
  return peers.flatMap((peer) => ('missing' in peer ? [] : [peer.ratio]));
}

function cellsOf(peer: PresentPeer | undefined): string[] {
  if (peer === undefined) return ['–', '', '', ''];
  const { p20, p80 } = peer.ratio;
  return [
    peer.peer,
    formatSeconds(peer.seconds.median),
    formatRatio(peer.ratio),
    `${threeDigits(p20)}–${threeDigits(p80)}`,
  ];
}

function workspaceOf({ workspaceBytes }: OpResult, row: TableRow | undefined): string {
  if (workspaceBytes === undefined) return '';
  const avoided = row?.avoidedBytes?.(row.job.opCase.dims);
  const share = avoided === undefined ? '' : `, ${formatPercent(workspaceBytes / avoided)} †`;
  return `${formatBytes(workspaceBytes)}${share}`;
}

function lineOfGroup({ shape, dtype, shared, repeated, ratio }: SharedPrefixResult): string[] {
  return [
    titleOfGroup(shape),
    'fwd + bwd',
    dtype,
    formatSeconds(shared.median),
    formatRange(shared.p20, shared.p80),
    'ours, prefix repeated',
    formatSeconds(repeated.median),
    formatRatio(ratio),
    `${threeDigits(ratio.p20)}–${threeDigits(ratio.p80)}`,
  ];
}

function notesOf(groups: readonly SharedPrefixResult[]): readonly string[] {
  return [
    'its/ours: time of the peer / our time, of turns next to each other; above 1 ours is faster',
    'roofline: share of the measured peak of computing or of moving bytes, whichever binds',
    '† of the [N, V] float32 logits it never makes',
    ...groups.map(
      ({ shape, dtype, ratio, pairRatio }) =>
        `${titleOfGroup(shape)}, ${dtype}: ${threeDigits(pairRatio)} times fewer pairs to attend; ` +
        `${formatPercent(ratio.median / pairRatio)} of it`,
    ),
  ];
}
