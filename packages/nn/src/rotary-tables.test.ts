import { ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { expectClose, readGolden } from './golden.fixture.ts';
import { mropeTable, rotaryTable, visionRotaryTable } from './rotary-tables.ts';

describe('rotaryTable', () => {
  it('turns pair i by position·θ^(−2i/D)', () => {
    const { cos, sin } = rotaryTable(Int32Array.of(0, 2), 4, 100);
    // Angles 0, 0 and 2, 0.2.
    expectClose('cos', cos, [1, 1, -0.4161468365471424, 0.9800665778412416], 1e-7);
    expectClose('sin', sin, [0, 0, 0.9092974268256817, 0.19866933079506122], 1e-7);
  });

  it("gives transformers' table of Llama 3.1, whose slow pairs turn slower", async () => {
    const golden = await readGolden('llama3-table');
    const scaling = { kind: 'llama3', factor: 8, low: 1, high: 4, positions: 8192 } as const;
    const table = rotaryTable(golden.integers('positions'), 128, 5e5, scaling);
    expectClose('cos', table.cos, golden.floats('cos'), 1e-6);
    expectClose('sin', table.sin, golden.floats('sin'), 1e-6);
  });

  it('divides all frequencies by the factor of linear scaling', () => {
    const stretched = rotaryTable(Int32Array.of(8), 4, 100, { kind: 'linear', factor: 4 });
    expect(stretched).toEqual(rotaryTable(Int32Array.of(2), 4, 100));
  });

  it('refuses a dimension that has no pairs', () => {
    expect(() => rotaryTable(Int32Array.of(0), 5, 100)).toThrow(ShapeError);
  });
});

describe('mropeTable', () => {
  it('equals the plain table where all three positions are equal', () => {
    const plain = rotaryTable(Int32Array.of(4, 9), 16, 1000);
    expect(mropeTable(Int32Array.of(4, 9, 4, 9, 4, 9), 16, [2, 3, 3], 1000)).toEqual(plain);
  });

  it('gives a token the bits it has alone, whatever stands before it', () => {
    const sections = [2, 3, 3];
    const rows = [
      [4, 4, 4, 4, 5],
      [4, 4, 4, 4, 4],
      [7, 7, 6, 7, 7],
    ];
    const table = mropeTable(Int32Array.from(rows.flat()), 16, sections, 1000);
    for (let t = 0; t < 5; t++) {
      const own = Int32Array.from(rows, (row) => row[t] ?? -1);
      const alone = mropeTable(own, 16, sections, 1000);
      expect(table.cos.slice(t * 8, t * 8 + 8)).toEqual(alone.cos);
      expect(table.sin.slice(t * 8, t * 8 + 8)).toEqual(alone.sin);
    }
  });

  it("gives transformers' table for the released sections, up to position 32767", async () => {
    const golden = await readGolden('rotary-tables');
    const table = mropeTable(golden.integers('positions'), 128, [16, 24, 24], 1e6);
    expectClose('cos', table.cos, golden.floats('cos'), 1e-6);
    expectClose('sin', table.sin, golden.floats('sin'), 1e-6);
  });

  it('refuses sections that do not fill the head, and positions that are not three rows', () => {
    expect(() => mropeTable(new Int32Array(3), 16, [2, 3, 4], 1000)).toThrow(ShapeError);
    expect(() => mropeTable(new Int32Array(4), 16, [2, 3, 3], 1000)).toThrow(ShapeError);
  });
});

describe('visionRotaryTable', () => {
  it("gives transformers' table of patch rows and columns", async () => {
    const golden = await readGolden('vision-tower');
    const positions = golden.integers('position_ids');
    const rows = positions.filter((_, i) => i % 2 === 0);
    const columns = positions.filter((_, i) => i % 2 === 1);
    const table = visionRotaryTable(rows, columns, 8, 10000);
    expectClose('cos', table.cos, golden.floats('cos'), 1e-7);
    expectClose('sin', table.sin, golden.floats('sin'), 1e-7);
  });
});
