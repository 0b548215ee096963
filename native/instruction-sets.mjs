/** For which instruction sets kernels are built on a machine. */
import { spawnSync } from 'node:child_process';
import { readText } from './cmake.mjs';
import { addonPath } from './index.js';

/** All instruction sets that the compiler knows, as CMake has it. */
export const EVERY_SET = 'ALL';

/**
 * The instruction sets of a processor that kernels are compiled for, the portable one first.
 *
 * @param flags    what the processor has, as `/proc/cpuinfo` says it
 * @param options  `sweeps`: whether to have also what this processor never chooses: pairs of bf16 emulated, VNNI
 *                 without AVX-512
 * @returns        those that the addon chooses from, the best last, and those that it only tests
 */
export function instructionSetsOf(flags, { sweeps = false } = {}) {
  const hasAll = (...names) => names.every((name) => flags.includes(name));
  const chosen = hasAll('avx2', 'fma') ? ['generic', 'avx2'] : ['generic'];
  const hasAvx512 = hasAll('avx512f', 'avx512vl', 'avx512bw', 'avx512dq');
  if (hasAll('avx2', 'fma', 'avx_vnni') && (sweeps || !hasAvx512)) chosen.push('avx2vnni');
  if (!hasAvx512) return { chosen, tested: [] };
  chosen.push('avx512');
  if (hasAll('avx512_bf16', 'avx512_vnni')) chosen.push('avx512bf16');
  if (hasAll('avx512_bf16', 'amx_tile', 'amx_bf16', 'amx_int8')) chosen.push('avx512amx');
  return { chosen, tested: chosen.includes('avx512bf16') && !sweeps ? [] : ['avx512pairs'] };
}

/** The best one of this machine, or for tests all that run here; every one where nobody tells. */
export function setsToBuild(tests) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return EVERY_SET;
  const flags = /^flags\s*:(.*)$/m.exec(readText('/proc/cpuinfo'))?.[1];
  if (flags === undefined) return EVERY_SET;
  const options = { sweeps: process.env.SACCADE_SWEEP !== undefined };
  const { chosen, tested } = instructionSetsOf(flags.trim().split(/\s+/), options);
  return (tests ? [...chosen, ...tested] : chosen.slice(-1)).join(',');
}

/**
 * Whether the addon runs one of the sets it was built for. A system may refuse what its processor has:
 * the tiles of AMX need its leave.
 */
export function findsItsSets(isa) {
  if (isa === EVERY_SET || isa === 'generic') return true;
  const ask = 'process.stdout.write(String(require(process.argv[1]).usableInstructionSets()))';
  const { stdout } = spawnSync(process.execPath, ['-e', ask, addonPath()], { encoding: 'utf8' });
  return !['', 'generic'].includes(stdout);
}

/** Whether what was built for some sets has those that are wanted. */
export function hasSets(built, wanted) {
  if ([EVERY_SET, wanted].includes(built)) return true;
  const has = (built ?? '').split(',');
  return wanted !== EVERY_SET && wanted.split(',').every((name) => has.includes(name));
}
