/** Registers, shared memory and spills of the CUDA kernels, as the compiler counted them. */
import { expect, it } from 'vitest';
import {
  findExcess,
  nameOf,
  nvccVersion,
  readBudgets,
  readReport,
  readUses,
} from '../cuda/budgets.mjs';

const REPORT = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z3sumIfEvPf' for 'sm_80'
ptxas info    : Function properties for _Z3sumIfEvPf
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 122 registers, used 1 barriers, 2048 bytes smem, 504 bytes cmem[0]
ptxas info    : Compiling entry function '_Z3sumIfEvPf' for 'sm_90a'
ptxas info    : Function properties for _Z3sumIfEvPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
`;

it('reads what ptxas says, and the names of kernels', () => {
  const symbol = '_Z3sumIfEvPf';
  expect(readReport(REPORT, 'gemm')).toEqual([
    {
      file: 'gemm',
      symbol,
      architecture: 'sm_80',
      registers: 122,
      sharedBytes: 2048,
      stackBytes: 16,
      spillBytes: 12,
    },
    {
      file: 'gemm',
      symbol,
      architecture: 'sm_90a',
      registers: 40,
      sharedBytes: 0,
      stackBytes: 0,
      spillBytes: 0,
    },
  ]);
  expect(
    nameOf(
      'void saccade::multiply<saccade::F16, (saccade::Lie)1>(saccade::Matrix<saccade::F16>, float*)',
    ),
  ).toBe('multiply<F16, (Lie)1>');
  expect(nameOf('saccade::(anonymous namespace)::addElements(float const*, long)')).toBe(
    'addElements',
  );
});

it('names spills, what is over its budget, and what has none', () => {
  const use = { key: 'a b', architecture: 'sm_80', registers: 40, sharedBytes: 0, spillBytes: 0 };
  const budgets = { 'a b': { sm_80: { registers: 40 } } };
  expect(findExcess([use], budgets)).toEqual([]);
  expect(findExcess([{ ...use, registers: 41 }], budgets)[0]).toMatch(
    /a b on sm_80 takes 41 registers, its budget is 40/,
  );
  expect(findExcess([{ ...use, stackBytes: 8 }], budgets)[0]).toMatch(/takes 8 stackBytes/);
  expect(findExcess([{ ...use, spillBytes: 8 }], budgets)[0]).toMatch(/spills 8 bytes/);
  expect(findExcess([{ ...use, architecture: 'sm_90a' }], budgets)[0]).toMatch(/has no budget/);
});

it('has no kernel that spills or is over its budget', ({ skip }) => {
  const version = nvccVersion();
  const uses = readUses();
  if (version === undefined || uses.length === 0) {
    const reason = 'no kernels were built for CUDA; SACCADE_CUDA=ON builds them where nvcc is';
    console.info(`Registers and spills are not checked: ${reason}.`);
    skip(reason);
  }
  const { nvcc, kernels } = readBudgets();
  // Another compiler allocates otherwise; that it does not spill still holds.
  const isSame = nvcc === version;
  if (!isSame) console.info(`Only spills are checked: the budgets are nvcc ${nvcc}'s.`);
  const excess = findExcess(uses, kernels);
  expect(isSame ? excess : excess.filter((sentence: string) => /spills/.test(sentence))).toEqual(
    [],
  );
  const architectures = new Set(uses.map(({ architecture }) => architecture));
  expect([...architectures].sort()).toEqual(['sm_80', 'sm_90a']);
});
