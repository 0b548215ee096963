/** The headline results as a table for people. */
import type { SharedPrefixResult } from './group-packing.ts';
import { GROUP_TITLE, type Headline, headlineOf } from './headline.ts';
import type { PeerResult } from './peers/peer.ts';
import { missingOf } from './report-ops.ts';
import type { OpResult } from './run-ops.ts';
import type { Ratio } from './statistics.ts';
import { type Column, drawTable } from './table.ts';
import {
  formatBytes,
  formatPercent,
  formatRange,
  formatRatio,
  formatSeconds,
  noteOfUndecided,
  threeDigits,
} from './units.ts';

const right = (title: string): Column => ({ title, align: 'right' });

export function drawHeadlines(
  rows: readonly Headline[],
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
  const lines = results.flatMap((result) => linesOf(result, headlineOf(result, rows)));
  return [
    drawTable(columns, [...lines, ...groups.map(lineOfGroup)]),
    '',
    ...notesOf(groups),
    ...noteOfUndecided([...results.flatMap(ratiosOf), ...groups.map(({ ratio }) => ratio)]),
    ...missingOf(results),
  ].join('\n');
}

/** One line for each peer that has the op, at least one. */
function linesOf(result: OpResult, row: Headline | undefined): string[][] {
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

function workspaceOf({ workspaceBytes }: OpResult, row: Headline | undefined): string {
  if (workspaceBytes === undefined) return '';
  const avoided = row?.avoidedBytes?.(row.job.opCase.dims);
  const share = avoided === undefined ? '' : `, ${formatPercent(workspaceBytes / avoided)} †`;
  return `${formatBytes(workspaceBytes)}${share}`;
}

function lineOfGroup({ dtype, shared, repeated, ratio }: SharedPrefixResult): string[] {
  return [
    GROUP_TITLE,
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
  const shares = groups.map(
    ({ dtype, ratio, pairRatio }) => `${formatPercent(ratio.median / pairRatio)} of it in ${dtype}`,
  );
  const pairs = groups[0]?.pairRatio;
  return [
    'its/ours: time of the peer / our time, of turns next to each other; above 1 ours is faster',
    'roofline: share of the measured peak of computing or of moving bytes, whichever binds',
    '† of the [N, V] float32 logits it never makes',
    ...(pairs === undefined
      ? []
      : [`shared prefix: ${threeDigits(pairs)} times fewer pairs to attend; ${shares.join(', ')}`]),
  ];
}
