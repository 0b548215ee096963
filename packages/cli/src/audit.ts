/** `saccade audit`: what is paid in a run without being wanted. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, messageOf } from '@saccade/core';
import {
  type AuditRunOptions,
  auditRun,
  formatDifference,
  formatPercent,
  type RunAudit,
  writeAudit,
} from '@saccade/report';
import { detectors, type Finding } from '@saccade/rewards';
import { auditOptionsOf, readRunConfig } from '@saccade/train';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { formatTable } from './table.ts';

export interface AuditFlags {
  readonly of?: readonly string[];
  readonly set?: readonly string[];
  readonly json?: boolean;
}

/** Ids that are printed of a detector's flagged trajectories. */
const EXAMPLES = 5;

/** The detectors with their thresholds, and examples. */
export function auditHelp(): string {
  const rows = detectors.entries().map(([name, { description, constants }]) => [
    `  ${name}`,
    description,
    Object.entries(constants)
      .map(([key, { value }]) => `${key}=${value}`)
      .join(' '),
  ]);
  return `
Detectors, what they flag, and their thresholds:
${formatTable(rows).join('\n')}

Examples:
  saccade audit runs/pyvision-image-nano-seed1
  saccade audit runs/mine --of evaluation-final --set tool-spam.leastCalls=4
  saccade audit runs/mine --json | jq '.findings[] | select(.isAlarm)'

Shares are of the trajectories that the run keeps: with --set keepTrajectoriesEverySteps=1 a group of
every step. Every step logs the share of all its trajectories as audit/<detector> in metrics.jsonl.
The page <run>/audit.html shows the same, with curves and the code of examples.`;
}

export async function audit(directory: string, flags: AuditFlags): Promise<void> {
  const audited = await auditWithReward(directory, {
    only: flags.of ?? [],
    thresholds: readThresholds(flags.set ?? []),
  });
  const page = await writeAudit(audited);
  if (flags.json) {
    printJson(jsonOf(audited, page));
    return;
  }
  for (const line of describeAudit(audited)) say(line);
  say(`\nPage: ${page}`);
}

/** Audits a run as it audits itself; where its configuration is not known, `gaps` says so. */
export async function auditWithReward(
  directory: string,
  options: Pick<AuditRunOptions, 'only' | 'thresholds'> = {},
): Promise<RunAudit> {
  const gaps: string[] = [];
  const own = await ownOptions(directory, gaps);
  const thresholds = { ...own?.thresholds };
  for (const [name, changed] of Object.entries(options.thresholds ?? {})) {
    thresholds[name] = { ...thresholds[name], ...changed };
  }
  const found = await auditRun(directory, { ...own, ...options, thresholds });
  return { ...found, gaps: [...found.gaps, ...gaps] };
}

/** The options for auditing a run; without its configuration, undefined and a reason in `gaps`. */
async function ownOptions(
  directory: string,
  gaps: string[],
): Promise<Pick<AuditRunOptions, 'terms' | 'thresholds' | 'analysis'> | undefined> {
  if (!existsSync(join(directory, 'config.json'))) {
    gaps.push('config.json is missing: all terms are expected to vary.');
    return undefined;
  }
  try {
    return auditOptionsOf(await readRunConfig(directory));
  } catch (error) {
    gaps.push(`The reward of config.json is not known here: ${messageOf(error)}`);
    return undefined;
  }
}

/** `tool-spam.alarmShare=0.2` by detector. @throws ConfigError for what is not written so */
export function readThresholds(
  settings: readonly string[],
): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const thresholds: Record<string, Record<string, number>> = {};
  for (const text of settings) {
    const [, detector, name, value] = /^([\w-]+)\.(\w+)=(.+)$/.exec(text) ?? [];
    const number = Number(value);
    if (detector === undefined || name === undefined || !Number.isFinite(number)) {
      throw new ConfigError(
        text,
        `--set ${text}: expected detector.threshold=number. Write it like ` +
          '--set tool-spam.alarmShare=0.2.',
      );
    }
    thresholds[detector] = { ...thresholds[detector], [name]: number };
  }
  return thresholds;
}

/** The lines that `saccade audit` prints. */
export function describeAudit(audited: RunAudit): readonly string[] {
  const { report, files, gaps } = audited;
  const alarms = report.findings.filter(({ isAlarm }) => isAlarm);
  const lines = [
    `${report.trajectoryCount} trajectories in ${report.groupCount} groups, from ${describeFiles(files)}`,
    '',
    ...formatTable([
      ['detector', 'flagged', 'share', '', 'of all, over the steps'],
      ...report.findings.map((finding) => [
        finding.detector,
        String(finding.flagged.length),
        formatPercent(finding.share),
        finding.isAlarm ? 'ALARM' : '',
        describeSteps(audited, finding),
      ]),
    ]),
  ];
  for (const { detector, message, flagged, isAlarm } of report.findings) {
    if (flagged.length === 0 && !isAlarm) continue;
    lines.push('', `${isAlarm ? 'ALARM ' : ''}${detector}: ${message}`);
    if (flagged.length > 0) lines.push(`  e.g. ${flagged.slice(0, EXAMPLES).join(', ')}`);
  }
  lines.push('', ...describeCorrelations(audited));
  if (gaps.length > 0)
    lines.push('', 'Not everything could be used:', ...gaps.map((gap) => `- ${gap}`));
  const names = alarms.map(({ detector }) => detector).join(', ');
  lines.push('', alarms.length === 0 ? 'No alarm.' : `Alarms (${alarms.length}): ${names}.`);
  return lines;
}

function describeFiles(files: readonly string[]): string {
  if (files.length <= 3) return files.join(', ');
  return `${files.length} files, ${files[0]} to ${files.at(-1)}`;
}

function describeSteps({ steps }: RunAudit, { detector }: Finding): string {
  const own = steps[detector] ?? [];
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined) return 'not logged';
  const most = Math.max(...own.map(({ share }) => share));
  const written = (share: number): string => formatPercent(share, 1);
  return `${written(first.share)} → ${written(last.share)}, at most ${written(most)}`;
}

function describeCorrelations({ report, overSteps, overEvaluations }: RunAudit): readonly string[] {
  const names = new Set([
    ...Object.keys(report.correlations),
    ...Object.keys(overSteps),
    ...Object.keys(overEvaluations),
  ]);
  if (names.size === 0) return ['No term of the reward can be correlated with accuracy.'];
  const written = (r: number | undefined): string =>
    r === undefined ? '–' : formatDifference(r, 2);
  const over = (found: RunAudit['overSteps'][string] | undefined): string =>
    found === undefined ? '–' : `${written(found.correlation)} (${found.count})`;
  return formatTable([
    ['correlation with accuracy', 'trajectories', 'training steps', 'held-out evaluations'],
    ...[...names].map((name) => [
      name,
      written(report.correlations[name]),
      over(overSteps[name]),
      over(overEvaluations[name]),
    ]),
  ]);
}

function jsonOf(audited: RunAudit, page: string): object {
  const { directory, files, report, overSteps, overEvaluations, steps, gaps } = audited;
  return {
    run: directory,
    files,
    trajectories: report.trajectoryCount,
    groups: report.groupCount,
    findings: report.findings.map(({ flagged, ...finding }) => ({
      ...finding,
      count: flagged.length,
      examples: flagged.slice(0, EXAMPLES),
      alarm: audited.detectors.find(({ name }) => name === finding.detector)?.alarm,
      steps: steps[finding.detector] ?? [],
    })),
    correlations: { trajectories: report.correlations, overSteps, overEvaluations },
    gaps,
    page,
  };
}
