export { type AuditRunOptions, auditRun, type RunAudit } from './audit-run.ts';
export { drawChartGrid, MOST_RUNS } from './chart-grid.ts';
export { type Chart, drawChart } from './charts.ts';
export {
  type ComparedRun,
  type ComparisonNumbers,
  comparisonNumbers,
  comparisonTable,
} from './comparison.ts';
export { drawComparison } from './comparison-charts.ts';
export { boundaryOf, numberIn, rowsOf } from './curves.ts';
export {
  type ErrorColumn,
  type ErrorStage,
  errorColumns,
} from './error-stages.ts';
export { Html, html, rawHtml } from './html.ts';
export {
  formatDifference,
  formatNumber,
  formatPercent,
  type Interval,
  wilsonInterval,
} from './numbers.ts';
export { drawOverview, type Embedding, type OverviewOptions } from './overview.ts';
export { drawProfilePage } from './profile/profile-page.ts';
export {
  describeProfile,
  type ProfileRow,
  profileColumns,
  profileRows,
} from './profile/profile-rows.ts';
export { writeProfilePage } from './profile/write-profile-page.ts';
export { readRun } from './read-run.ts';
export { type Comparison, missingFacts, type Rescored, rescore } from './rescore.ts';
export {
  type ErrorExample,
  type ErrorSource,
  type RunErrors,
  readRunErrors,
} from './run-errors.ts';
export {
  type FaithfulnessOptions,
  type JudgedTrajectory,
  type RunFaithfulness,
  readFaithfulness,
  type SetFaithfulness,
} from './run-faithfulness.ts';
export {
  readSideBySide,
  type SideBySide,
  type SideBySideOptions,
} from './side-by-side/read-side-by-side.ts';
export { drawSidePage, type SidePageOptions } from './side-by-side/side-page.ts';
export {
  type WrittenSideBySide,
  writeSideBySide,
  writeTables,
} from './side-by-side/write-side-by-side.ts';
export { readStoredRun } from './stored-run.ts';
export { styleSheet } from './style.ts';
export {
  type CellKind,
  type CellValue,
  formatCell,
  type IntervalValue,
  type Table,
  type TableColumn,
} from './tables/table.ts';
export { type TableFormat, tableFormats, writeCsv, writeTable } from './tables/write-table.ts';
export { drawTurns } from './turns.ts';
export { writeAudit } from './write-audit.ts';
export { writeReport } from './write-report.ts';
