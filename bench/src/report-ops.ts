/** Results of ops as a table for people. */
import { type Comparison, keyOf } from './baseline.ts';
import type { PeerResult } from './peers/peer.ts';
import type { OpResult } from './run-ops.ts';
import type { Sample } from './statistics.ts';
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

/** @param comparisons  with an earlier run, where there is one */
export function drawResults(
  results: readonly OpResult[],
  comparisons: readonly Comparison[] = [],
): string {
  const peers = [...new Set(results.flatMap((result) => namesOf(result.peers)))];
  const earlier = new Map(comparisons.map((comparison) => [comparison.key, comparison]));
  const isInTurns = results.some(({ sharesInTurns }) => sharesInTurns !== undefined);
  const columns: Column[] = [
    { title: 'op' },
    { title: 'case' },
    { title: 'pass' },
    { title: 'type' },
    right('median'),
    right('p20–p80'),
    right('GFLOP/s'),
    right('GB/s'),
    right('roofline'),
    ...(isInTurns ? [right('p20–p80 of it')] : []),
    right('workspace'),
    right('error'),
    ...peers.map((peer) => right(`${peer}/ours`)),
    ...(earlier.size > 0 ? [{ title: 'baseline' }] : []),
  ];
  const rows = results.map((result) => [
    result.op,
    result.case,
    result.pass,
    result.dtype,
    formatSeconds(result.seconds.median),
    formatRange(result.seconds.p20, result.seconds.p80),
    threeDigits(result.cost.flops / result.seconds.median / 1e9),
    threeDigits(result.cost.bytes / result.seconds.median / 1e9),
    result.shareOfRoofline === undefined
      ? ''
      : `${formatPercent(result.shareOfRoofline)} ${result.boundBy === 'compute' ? 'C' : 'M'}`,
    ...(isInTurns ? [describeShares(result.sharesInTurns)] : []),
    result.workspaceBytes === undefined ? '' : formatBytes(result.workspaceBytes),
    `${result.accuracy.error.toExponential(0)}${result.accuracy.at === undefined ? ' ' : '*'}`,
    ...peers.map((peer) => ratioOf(result.peers, peer)),
    ...(earlier.size > 0 ? [describeComparison(earlier.get(keyOf(result)))] : []),
  ]);
  const unsure = comparisons.some(({ isUnsure }) => isUnsure)
    ? ['? less than a second of samples in one of the runs: measured again, it may be a tie']
    : [];
  const ratios = [
    ...results.flatMap(({ peers: own = [] }) =>
      own.flatMap((one) => ('ratio' in one ? one.ratio : [])),
    ),
    ...comparisons.map(({ isUndecided }) => ({ isDecided: isUndecided !== true })),
  ];
  const notes = [...notesOf(results), ...unsure, ...noteOfUndecided(ratios)];
  return [drawTable(columns, rows), ...notes].join('\n');
}

const describeShares = (shares: Sample | undefined): string =>
  shares === undefined ? '' : `${formatPercent(shares.p20)} – ${formatPercent(shares.p80)}`;

const namesOf = (peers: readonly PeerResult[] = []): readonly string[] =>
  peers.map(({ peer }) => peer);

function ratioOf(peers: readonly PeerResult[] = [], name: string): string {
  const found = peers.find(({ peer }) => peer === name);
  return found === undefined || 'missing' in found ? '' : formatRatio(found.ratio);
}

function describeComparison(comparison: Comparison | undefined): string {
  if (comparison === undefined) return 'new';
  const { ratio, verdict, isUnsure } = comparison;
  // "0.5× slower" would be faster.
  const median = verdict === 'slower' ? 1 / ratio : ratio;
  const isDecided = comparison.isUndecided !== true;
  return `${formatRatio({ median, isDecided })} ${verdict}${isUnsure ? ' ?' : ''}`;
}

/** Explains the marks in the table, and lists which peers lack what. */
function notesOf(results: readonly OpResult[]): readonly string[] {
  const notes = [''];
  if (results.some(({ boundBy }) => boundBy !== undefined)) {
    notes.push('roofline: share of the measured peak of computing (C) or of moving bytes (M)');
    if (results.some(({ sharesInTurns }) => sharesInTurns !== undefined)) {
      notes.push('  of the peak measured in turns with the case: the median of the turns');
    }
  }
  notes.push('error: largest of outputs and gradients against float64, by the measure of the op');
  const elsewhere = new Map(
    results.flatMap(({ op, accuracy }) => (accuracy.at ? [[op, accuracy.at]] : [])),
  );
  for (const [op, at] of elsewhere) notes.push(`  * ${op}: measured at ${at}`);
  if (results.some(({ peers }) => peers?.some((peer) => 'ratio' in peer))) {
    notes.push(
      '…/ours: time of the peer / our time, of turns next to each other; above 1 ours is faster',
    );
  }
  const places = new Map(
    results.flatMap(({ peers = [] }) =>
      peers.flatMap((peer) => ('where' in peer && peer.where ? [[peer.peer, peer.where]] : [])),
    ) as readonly (readonly [string, string])[],
  );
  for (const [peer, where] of places) notes.push(`  ${peer}: both in ${where}`);
  return [...notes, ...missingOf(results)];
}

/** The passes that peers lack, one line for each reason. */
export function missingOf(results: readonly OpResult[]): readonly string[] {
  const byReason = new Map<string, Set<string>>();
  for (const { op, pass, peers = [] } of results) {
    for (const peer of peers) {
      if (!('missing' in peer)) continue;
      const reason = `${peer.peer} ${peer.missing}`;
      byReason.set(reason, (byReason.get(reason) ?? new Set()).add(`${op} ${pass}`));
    }
  }
  return [...byReason].map(([reason, where]) => `no ${[...where].join(', ')}: ${reason}`);
}
