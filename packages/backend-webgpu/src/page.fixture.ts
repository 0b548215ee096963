/** The page that `scripts/browser.test.ts` runs: one case of every kernel on the browser's WebGPU. */
import { attentionCatalog } from '@saccade/attention';
import { logprobCatalog } from '@saccade/logprob';
import { openDevice, opsCatalog } from '@saccade/ops';
import { compareWithOracle } from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { webgpuBackend } from './index.ts';

export interface PageResult {
  readonly description: string;
  /** Ids of the ops that agree with their oracles. */
  readonly checked: readonly string[];
}

export async function run(): Promise<PageResult> {
  const backend = await webgpuBackend({ poisonWorkspaces: true });
  const device = openDevice(backend);
  const checked: string[] = [];
  for (const op of [...opsCatalog, ...attentionCatalog, ...logprobCatalog]) {
    if (!webGpuKernels.some((kernel) => kernel.op === op.id)) continue;
    // The second case: small, and no multiple of anything.
    const opCase = op.cases[1];
    if (opCase === undefined) continue;
    await compareWithOracle(device, op, opCase, 1);
    checked.push(op.id);
  }
  device.dispose();
  return { description: backend.description, checked: checked.sort() };
}
