/**
 * All tests at full length: random cases (50 times as many), storage types, instruction sets, tiles, kills and experiments
 * that `npm test` has no time for, and the CUDA kernels compiled where nvcc is. What follows goes to vitest.
 *
 *   npm run sweep -- packages/backend-webgpu
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const scripts = dirname(fileURLToPath(import.meta.url));
const hasNvcc = spawnSync('nvcc', ['--version'], { stdio: 'ignore' }).status === 0;
const env = {
  ...process.env,
  SACCADE_SWEEP: '1',
  // Registers and spills are checked also without a device.
  SACCADE_CUDA: process.env.SACCADE_CUDA ?? (hasNvcc ? 'ON' : 'AUTO'),
};
for (const [script, ...args] of [['setup.mjs'], ['test.mjs', ...process.argv.slice(2)]]) {
  const command = [join(scripts, script), ...args];
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
