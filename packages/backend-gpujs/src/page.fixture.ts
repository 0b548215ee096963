/** The page that `scripts/browser.test.ts` runs: the checks of the Node test, on real WebGL2. */
import { openDevice } from '@saccade/ops';
import { type CheckedOp, checkOp, forwardOps } from './gpujs-cases.fixture.ts';
import { gpujsBackend } from './index.ts';

/** More than the 16 WebGL contexts that Chromium keeps: one more takes the oldest away. */
const OPENED = 20;

export async function run(): Promise<{ description: string; checked: readonly CheckedOp[] }> {
  const device = openDevice(await gpujsBackend());
  for (let i = 0; i < OPENED; i++) {
    const backend = await gpujsBackend({ mode: 'webgl2' });
    backend.dispose();
    // gpu.js gives a context back in a task of its own.
    await new Promise((done) => setTimeout(done, 5));
  }
  const checked: CheckedOp[] = [];
  for (const op of forwardOps) checked.push(await checkOp(device, op, 2));
  device.dispose();
  return { description: device.backend.description, checked };
}
