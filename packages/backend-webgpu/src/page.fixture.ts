/** The page that `scripts/browser.test.ts` runs: the contract on the browser's WebGPU. */
import { type CheckResult, listSkipped, runChecks } from '@saccade/ops/contract';
import { contractChecks, openSubject } from './contract.fixture.ts';

export type { CheckResult } from '@saccade/ops/contract';

/** Few cases of every op: all of them run on the same implementation of WebGPU in Node. */
export const checks = contractChecks({ caseCount: 2, fuzzCount: 0 });

/** The arguments with which the harness of pages calls `run`. */
interface PageCall {
  report(result: CheckResult): Promise<void>;
}

export interface PageResult {
  readonly description: string;
  /** The skipped checks, and why they were skipped. */
  readonly skipped: string | undefined;
}

export async function run({ report }: PageCall): Promise<PageResult> {
  const subject = await openSubject();
  const { backend } = subject.device;
  for await (const result of runChecks(checks, subject)) await report(result);
  subject.device.dispose();
  return { description: backend.description, skipped: listSkipped(checks, backend) };
}
