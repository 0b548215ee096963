/** Reports of several engines as one. */
import type { EngineReport } from './engine.ts';

/** Means over engines of what is a share or a length, sums of what is counted. */
export function meanReport(reports: readonly EngineReport[]): EngineReport {
  const sum = (of: (report: EngineReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  const mean = (of: (report: EngineReport) => number): number => sum(of) / reports.length;
  return {
    busy: mean(({ busy }) => busy),
    utilization: mean(({ utilization }) => utilization),
    meanSequences: mean(({ meanSequences }) => meanSequences),
    meanWaiting: sum(({ meanWaiting }) => meanWaiting),
    decodedTokens: sum(({ decodedTokens }) => decodedTokens),
    workSeconds: sum(({ workSeconds }) => workSeconds),
    prefilledTokens: sum(({ prefilledTokens }) => prefilledTokens),
  };
}
