/** `saccade rescore`: what a run has kept, under another reward. */
import { join, resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  type Comparison,
  formatDifference,
  formatNumber,
  formatPercent,
  missingFacts,
  type Rescored,
  readStoredRun,
  rescore,
} from '@saccade/report';
import {
  auditRewards,
  changeTerms,
  presetNamed,
  presets,
  presetTerms,
  type TermChange,
  verifiers,
} from '@saccade/rewards';
import { nodeFileSystem, writeDurably } from '@saccade/run-store';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { formatTable } from './table.ts';

export interface RescoreFlags {
  readonly reward?: string;
  readonly set?: readonly string[];
  readonly of?: readonly string[];
  readonly verifier?: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** The presets, the verifiers, and examples. */
export function rescoreHelp(): string {
  return `
Presets: ${presets.names.join(', ')}.
Verifiers: ${verifiers.names.join(', ')}.

Examples:
  saccade rescore runs/mine --reward codevision
  saccade rescore runs/mine --reward pyvision --set accumulative-tool=0
  saccade rescore runs/mine --reward codevision/code --set exact-order.isOrdered=true --verifier math

"order" is the share of pairs within a group that both rewards order alike: an algorithm that compares
in groups sees nothing else. "uniform" counts groups whose rewards are all equal: they teach nothing.`;
}

export async function rescoreRun(directory: string, flags: RescoreFlags): Promise<void> {
  const { reward } = flags;
  if (reward === undefined) {
    throw new ConfigError(
      '--reward',
      `--reward is missing: the preset to score with. Known: ${presets.names.join(', ')}.`,
    );
  }
  const changes = (flags.set ?? []).map(parseChange);
  const terms = changeTerms(presetTerms(reward), changes);
  const verifier = flags.verifier === undefined ? undefined : verifiers.get(flags.verifier);
  const stored = await readStoredRun(directory, flags.of);
  const rescored = rescore(stored, { terms, ...(verifier && { verifier }) });
  const name = presetNamed(reward).name.replace('/', '-');
  const out = resolve(flags.out ?? join(directory, 'rescored', `${name}.jsonl`));
  writeLines(out, rescored.trajectories);
  const found = auditRewards({ groups: rescored.newGroups, terms });
  if (flags.json)
    return printJson(jsonOf(rescored, { reward: name, found, out, gaps: stored.gaps }));
  for (const line of describeRescored(rescored)) console.log(line);
  const before = auditRewards({ groups: rescored.oldGroups });
  console.log('\nAudit');
  const rows = found.findings.map((finding) => {
    const old = before.findings.find(({ detector }) => detector === finding.detector);
    return [
      finding.detector,
      formatPercent(old?.share ?? 0),
      formatPercent(finding.share),
      finding.isAlarm ? 'ALARM' : '',
      finding.flagged.length > 0 ? finding.message : '',
    ];
  });
  for (const line of formatTable([['detector', 'old', 'new', '', ''], ...rows])) console.log(line);
  const missing = missingFacts(reward, stored);
  if (missing.length > 0) {
    say(
      `\n${reward} reads ${missing.join(', ')} of a task, which these tasks do not say: ` +
        'terms that need it give 0.',
    );
  }
  const partial = stored.sets.some(({ groups }) =>
    groups.some((own) => own.trajectories.length < 2),
  );
  if (partial && terms.some(({ reward }) => reward.scope === 'group')) {
    say('\nSome groups have one trajectory: terms that compare a group say little there.');
  }
  for (const gap of stored.gaps) say(`\n${gap}`);
  say(`\nTrajectories: ${out}`);
}

function jsonOf(
  { files, overall, oldTerms, newTerms, failed }: Rescored,
  more: { reward: string; found: ReturnType<typeof auditRewards>; out: string; gaps: StoredGaps },
): object {
  const { found, out, ...rest } = more;
  const findings = found.findings.map(({ flagged, ...one }) => ({ ...one, count: flagged.length }));
  return { ...rest, files, overall, oldTerms, newTerms, failed, findings, trajectories: out };
}

type StoredGaps = Awaited<ReturnType<typeof readStoredRun>>['gaps'];

/** `accuracy=2` is a weight, `turn-limit-penalty.spareTurns=3` a constant. */
export function parseChange(text: string): TermChange {
  const [, term, constant, written] = /^([\w-]+)(?:\.(\w+))?=(.+)$/.exec(text) ?? [];
  if (term === undefined || written === undefined) {
    throw new ConfigError(
      text,
      `--set ${text}: expected term=weight or term.constant=value. Write it like ` +
        '--set accumulative-tool=0.2; see saccade rewards show <preset>.',
    );
  }
  let value: unknown = written;
  try {
    value = JSON.parse(written);
  } catch {
    // A word.
  }
  if (typeof value !== 'number' && typeof value !== 'boolean') value = written;
  return {
    term,
    ...(constant !== undefined && { constant }),
    value: value as TermChange['value'],
  };
}

function writeLines(path: string, lines: readonly object[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeDurably(nodeFileSystem, path, text);
}

/** The tables that `saccade rescore` prints of rewards and terms. */
export function describeRescored(rescored: Rescored): readonly string[] {
  const { files, overall, oldTerms, newTerms, trajectories, failed } = rescored;
  const changed = trajectories.filter(({ wasCorrect, isCorrect }) => wasCorrect !== isCorrect);
  const names = new Set([...Object.keys(oldTerms), ...Object.keys(newTerms)]);
  const mean = (value: number | undefined): string =>
    value === undefined ? '–' : formatNumber(value);
  const rows = files.length > 1 ? [...files, overall] : files;
  const lines = [
    ...formatTable([
      ['file', 'trajectories', 'old', 'new', 'r', 'rank r', 'order', 'uniform groups'],
      ...rows.map(describeComparison),
    ]),
    '',
    ...formatTable([
      ['mean of term', 'old', 'new'],
      ...[...names].map((name) => [name, mean(oldTerms[name]), mean(newTerms[name])]),
    ]),
  ];
  if (changed.length > 0) lines.push('', `${changed.length} verdicts are other than stored.`);
  if (failed.length > 0) {
    lines.push(
      '',
      `${failed.length} could not be scored, e.g. ${failed[0]?.id}: ${failed[0]?.reason}`,
    );
  }
  return lines;
}

function describeComparison(one: Comparison): readonly string[] {
  const { correlation, rankCorrelation, orderAgreement } = one;
  const r = (value: number | undefined): string =>
    value === undefined ? '–' : formatDifference(value, 2);
  return [
    one.name,
    String(one.count),
    formatNumber(one.oldMean),
    formatNumber(one.newMean),
    r(correlation),
    r(rankCorrelation),
    orderAgreement === undefined ? '–' : formatPercent(orderAgreement, 0),
    `${one.oldUniform} → ${one.newUniform} of ${one.groups}`,
  ];
}
