/** One report of all stages of a GPU run, from the ledgers that they leave. */
import type { CheckResult } from '@saccade/ops/contract';
import type { GpuRowResult } from './gpu-table.ts';
import { type LedgerState, readLedger, removeLedger } from './ledger.ts';
import type { RepeatResult } from './repeats.ts';
import { drawGpuTable } from './report-gpu.ts';
import type { StageOutcome } from './run-stages.ts';
import { readSanitizer } from './sanitizer.ts';

/** The kind of entries that a stage has. */
export type StageKind = 'checks' | 'table' | 'repeats' | 'would' | 'doctor';

export interface StageReport extends StageOutcome {
  readonly kind: StageKind;
  readonly ledger?: LedgerState<unknown>;
}

/**
 * Outcomes with what the stages wrote down.
 *
 * @param taken  ledgers of stages that ended before; new ones are taken up and their files removed
 */
export function collectReports(
  outcomes: readonly StageOutcome[],
  folder: string,
  taken: Map<string, LedgerState<unknown>>,
): readonly StageReport[] {
  return outcomes.map((outcome) => {
    const { name } = outcome;
    const ledger = taken.get(name) ?? readLedger(folder, name);
    if (ledger !== undefined) taken.set(name, ledger);
    removeLedger(folder, name);
    const kind = (ledger?.about?.kind ?? 'doctor') as StageKind;
    return { ...outcome, kind, ...(ledger && { ledger }) };
  });
}

/** The whole run for people. */
export function drawReport(reports: readonly StageReport[]): string {
  return `${reports.flatMap((report) => [describeOutcome(report), ...linesOf(report), '']).join('\n')}`;
}

function describeOutcome({ name, how, status, seconds, starts, said }: StageOutcome): string {
  const ended = how === 'ended' ? `ended with ${status ?? 'a signal'}` : how;
  const again = starts > 1 ? `, started ${starts} times` : '';
  const found = readSanitizer(said);
  return `${name}: ${ended}, ${seconds.toFixed(0)} s${again}${found === undefined ? '' : `; ${found}`}`;
}

function linesOf({ kind, ledger, said }: StageReport): readonly string[] {
  if (kind === 'doctor') return indent(said.trimEnd());
  if (ledger === undefined) return [];
  const { entries, running, about } = ledger;
  const cut = running === undefined ? [] : [`  ended in the middle of: ${running}`];
  switch (kind) {
    case 'would':
      return (entries as string[]).flatMap(indent);
    case 'checks':
      return [...linesOfChecks(entries as CheckResult[]), ...cut];
    case 'repeats':
      return [...linesOfRepeats(entries as RepeatResult[]), ...cut];
    case 'table': {
      const facts = Object.entries(about ?? {}).filter(([name]) => name !== 'kind');
      const head = facts.map(([name, value]) => `  ${name}: ${describeFact(value)}`);
      return [...head, '', drawGpuTable(entries as GpuRowResult[]), ...cut];
    }
  }
}

const indent = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

function linesOfChecks(entries: readonly CheckResult[]): readonly string[] {
  const count = (kind: CheckResult['outcome']): number =>
    entries.filter(({ outcome }) => outcome === kind).length;
  return [
    `  ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`,
    ...entries.flatMap(({ name, outcome, message }) =>
      outcome === 'passed' ? [] : [`  ${outcome} ${name}: ${message?.split('\n')[0]}`],
    ),
  ];
}

function linesOfRepeats(entries: readonly RepeatResult[]): readonly string[] {
  return entries.map(({ title, repeats, differences }) => {
    const verdict = differences.length === 0 ? 'the same bits' : `DIFFERS: ${differences[0]}`;
    return `  ${title}, ${repeats} repeats: ${verdict}`;
  });
}

function describeFact(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${part}`)
    .join(', ');
}

/** Whether every stage did what it should; the doctor's verdict is on the whole machine. */
export function isAllWell(reports: readonly StageReport[]): boolean {
  return reports.every(
    ({ kind, how, status }) => kind === 'doctor' || (how === 'ended' && status === 0),
  );
}
