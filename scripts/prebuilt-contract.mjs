/**
 * Runs the contract of kernels, memory and queues on the addon in use, without a test runner, so
 * that it also runs where there is only Node: in a container, or under an emulator.
 *
 *   SACCADE_ADDON=native/prebuilt/linux-arm64-gnu/saccade.node \
 *     qemu-aarch64-static node scripts/prebuilt-contract.mjs [random cases per op]
 *
 * After npx tsc -b. Closes with one line: N passed, N failed.
 */
import { attentionChecks } from '../packages/attention/dist/contract.js';
import { nativeBackend, probeNative } from '../packages/backend-native/dist/index.js';
import { logprobChecks } from '../packages/logprob/dist/contract.js';
import { memoryChecks, opsChecks, queueChecks, runChecks } from '../packages/ops/dist/contract.js';
import { openDevice } from '../packages/ops/dist/index.js';

const fuzzCount = Number(process.argv[2] ?? 2);
/** Some 100 ms on two threads. */
const BUSY = { size: 768, launches: 10 };

const native = probeNative();
if (!native.available) throw new Error(native.message);
console.log(`${native.path} on ${process.platform}-${process.arch}, Node ${process.version}`);

let [passed, failed] = [0, 0];

/** Runs checks on a device of their own, and says which fail. */
async function run(what, checks, options) {
  const start = performance.now();
  const open = () => openDevice(nativeBackend({ threads: 2, poisonWorkspaces: true, ...options }));
  const subject = { device: open(), open };
  for await (const { name, outcome, message } of runChecks(checks, subject)) {
    if (outcome === 'passed') passed++;
    if (outcome !== 'failed') continue;
    failed++;
    console.error(`FAIL ${what}: ${name}: ${message}`);
  }
  subject.device.dispose();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${what}: ${checks.length} checks in ${seconds} s`);
}

for (const isa of native.instructionSets) {
  for (const dtype of ['f32', 'bf16']) {
    const options = { dtype, fuzzCount };
    const checks = [...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)];
    await run(`${isa} ${dtype}`, checks, { isa });
  }
}
await run('memory and queue', [...memoryChecks, ...queueChecks(BUSY)], { launches: 'queued' });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
