/** The build script's decisions, without building. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chooseCuda, expectCudaLibrary, hasCompilerError } from '../build.mjs';
import { isConfiguredOtherwise, progressOf } from '../cmake.mjs';
import { loadAddon } from '../index.js';
import { instructionSetsOf } from '../instruction-sets.mjs';

describe('native build', () => {
  it('builds for CUDA where there is a device, or where it is asked to', () => {
    const none = 'no kernels for CUDA devices';
    const [yes, no, nvcc, lacks] = [() => true, () => false, () => 'nvcc 12', () => undefined];
    expect(chooseCuda('AUTO', no, nvcc)).toBe(none);
    expect(chooseCuda('AUTO', yes, nvcc)).toBe('nvcc 12');
    expect(chooseCuda('AUTO', yes, lacks)).toBe(none);
    expect(chooseCuda('ON', no, nvcc)).toBe('nvcc 12');
    expect(chooseCuda('OFF', yes, nvcc)).toBe(none);
    expect(() => chooseCuda('ON', yes, lacks)).toThrow(/there is no nvcc on the PATH/);
  });

  it('configures again where the cache has another setting of ours', () => {
    const off = 'CMAKE_BUILD_TYPE:STRING=Release\nSACCADE_CUDA:STRING=OFF\n';
    const auto = ['--CDSACCADE_CUDA=AUTO', '--target', 'saccade-cuda'];
    expect(isConfiguredOtherwise(['--CDSACCADE_CUDA=OFF'], off)).toBe(false);
    expect(isConfiguredOtherwise(auto, off)).toBe(true);
    expect(isConfiguredOtherwise(auto, off.replace('OFF', 'AUTO'))).toBe(false);
    // A setting that the cache is older than; and nothing configured yet.
    expect(isConfiguredOtherwise(['--CDSACCADE_INSTRUCTION_SETS=ALL'], off)).toBe(true);
    expect(isConfiguredOtherwise(auto, '')).toBe(false);
  });

  it('fails in words where CUDA was asked for and no library came out', () => {
    const said = 'compiling\nSaccade: no nvcc 12 or newer was found; no kernels are built.';
    expect(() => expectCudaLibrary('/nowhere/saccade-cuda.so', said)).toThrow(
      /no saccade-cuda\.so came out.*\n.*no nvcc 12 or newer was found[\s\S]*SACCADE_CUDA=OFF/,
    );
    expect(() => expectCudaLibrary(import.meta.filename, said)).not.toThrow();
  });

  it('builds for the instruction sets that a processor has, the best last', () => {
    const avx512 = ['avx2', 'fma', 'avx512f', 'avx512vl', 'avx512bw', 'avx512dq'];
    const bf16 = [...avx512, 'avx512_bf16', 'avx512_vnni'];
    const of = (...flags: readonly string[]) => instructionSetsOf(flags);
    expect(of('sse2')).toEqual({ chosen: ['generic'], tested: [] });
    expect(of('avx2')).toEqual({ chosen: ['generic'], tested: [] });
    expect(of('avx2', 'fma')).toEqual({ chosen: ['generic', 'avx2'], tested: [] });
    const vnni = of('avx2', 'fma', 'avx_vnni');
    expect(vnni).toEqual({ chosen: ['generic', 'avx2', 'avx2vnni'], tested: [] });
    // What has AVX-512, too, never takes it.
    expect(of(...avx512, 'avx_vnni').chosen).not.toContain('avx2vnni');
    expect(instructionSetsOf([...avx512, 'avx_vnni'], { sweeps: true }).chosen).toContain(
      'avx2vnni',
    );
    const plain = { chosen: ['generic', 'avx2', 'avx512'], tested: ['avx512pairs'] };
    expect(of(...avx512)).toEqual(plain);
    expect(of(...avx512, 'avx512_bf16')).toEqual(plain);
    expect(of(...bf16).chosen).toEqual(['generic', 'avx2', 'avx512', 'avx512bf16']);
    const tiles = of(...bf16, 'amx_tile', 'amx_bf16', 'amx_int8');
    expect(tiles.chosen).toEqual(['generic', 'avx2', 'avx512', 'avx512bf16', 'avx512amx']);
    // What the processor has needs no emulation, but in a sweep.
    expect(tiles.tested).toEqual([]);
    expect(instructionSetsOf(bf16, { sweeps: true }).tested).toEqual(['avx512pairs']);
    expect(instructionSetsOf(avx512, { sweeps: true })).toEqual(plain);
  });

  it.skipIf(process.platform !== 'linux' || process.arch !== 'x64')(
    'knows the instruction sets that the addon finds here',
    () => {
      const [, flags = ''] = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? [];
      const native = loadAddon();
      if (!native.ok) throw new Error(native.detail);
      const { chosen, tested } = instructionSetsOf(flags.trim().split(/\s+/), { sweeps: true });
      const usable = native.addon.usableInstructionSets();
      // A system may refuse the tiles to a process that asks for them.
      const best = usable.includes('avx512amx')
        ? chosen
        : chosen.filter((name) => name !== 'avx512amx');
      expect(best.at(-1)).toBe(usable.at(-1));
      expect(chosen).toEqual(expect.arrayContaining(usable));
      expect(tested).toEqual(expect.arrayContaining(native.addon.emulatedInstructionSets()));
    },
  );

  it('reads progress of make and ninja, and tells a refused source from a broken cache', () => {
    expect(progressOf('[  7%] Building\n[ 42%] Building CXX object')).toBe(42);
    expect(progressOf('[3/12] Building')).toBe(25);
    expect(progressOf('Scanning')).toBeUndefined();
    expect(hasCompilerError("a.cc:3:1: error: expected ';'")).toBe(true);
    expect(hasCompilerError('CMake Error: The source does not match')).toBe(false);
  });
});
