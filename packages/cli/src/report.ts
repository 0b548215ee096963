/** `saccade report`: writes a run's report.html again, or the page of evaluations side by side. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DataError } from '@saccade/core';
import { writeReport, writeSideBySide } from '@saccade/report';
import { describeDamage, inspectRun, isEvaluation } from '@saccade/run-store';
import { printJson } from './json.ts';
import { say } from './say.ts';

export interface ReportFlags {
  readonly out?: string;
  readonly suite?: readonly string[];
  readonly tasks: number;
  readonly title?: string;
  readonly json?: boolean;
}

export async function report(paths: readonly string[], flags: ReportFlags): Promise<void> {
  for (const path of paths) expectDirectory(path);
  const [first] = paths;
  if (first === undefined) return;
  if (paths.some((path) => isEvaluation(path))) {
    const other = paths.find((path) => !isEvaluation(path));
    if (other !== undefined) {
      throw new DataError(
        `${other} is no evaluation, and others are. Give evaluations alone, or one run.`,
      );
    }
    const { out = first, suite, tasks, title } = flags;
    const written = await writeSideBySide(paths, resolve(out), {
      shownTasks: tasks,
      ...(suite && { suites: suite }),
      ...(title !== undefined && { title }),
    });
    if (flags.json) return printJson(written);
    for (const gap of written.gaps) console.error(gap);
    say(`Report: ${written.page}\nTables: ${written.tables}`);
    return;
  }
  if (paths.length > 1) {
    throw new DataError(
      'Runs have a page each. Give one run; saccade curves draws several, and saccade eval --suite makes ' +
        'evaluations that one page compares.',
    );
  }
  expectRun(first);
  const page = await writeReport(first);
  const { damage } = await inspectRun(first, { skips: ['checkpoints'] });
  if (flags.json) return printJson({ report: page, damage: damage.map(describeDamage) });
  for (const one of damage) console.error(describeDamage(one));
  say(`Report: ${page}`);
}

/** @throws DataError for what is no directory */
function expectDirectory(directory: string): void {
  if (!existsSync(directory)) {
    throw new DataError(`There is no run directory ${directory}. Give the path of a run.`);
  }
  if (!statSync(directory).isDirectory()) {
    throw new DataError(`${directory} is a file. Give the directory of a run.`);
  }
}

/** @throws DataError for what is no run: a page is written only beside a run's own files */
function expectRun(directory: string): void {
  if (['config.json', 'metrics.jsonl'].some((file) => existsSync(join(directory, file)))) return;
  throw new DataError(
    `${directory} holds no run: it has neither config.json nor metrics.jsonl. Check the path.`,
  );
}
