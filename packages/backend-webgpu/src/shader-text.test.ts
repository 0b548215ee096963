import { StateError } from '@saccade/core';
import { shader } from '@saccade/webgpu-kernels';
import { describe, expect, it } from 'vitest';
import { shaderText, uniformMembers } from './shader-text.ts';

const scale = shader({
  name: 'scale',
  arrays: { x: 'read stored vec4', index: 'read i32', y: 'write stored' },
  numbers: { count: 'u32', factor: 'f32' },
  threads: [64, 1, 1],
  body: 'fn main(at: Place) {}',
});

describe('shaderText', () => {
  it('binds numbers first, then the arrays in the order declared', () => {
    const text = shaderText(scale, 'f32');
    expect(text).toContain(
      'struct Numbers { count: u32, factor: f32, first_x: u32, first_index: u32, first_y: u32 }',
    );
    expect(text).toContain('@group(0) @binding(0) var<uniform> p: Numbers;');
    expect(text).toContain('@binding(1) var<storage, read> array_x: array<vec4<f32>>;');
    expect(text).toContain('@binding(2) var<storage, read> array_index: array<i32>;');
    expect(text).toContain('@binding(3) var<storage, read_write> array_y: array<f32>;');
    expect(uniformMembers(scale)).toEqual(['count', 'factor', 'first_x', 'first_index', 'first_y']);
  });

  it('reads every array from its first element on, and writes what is declared written', () => {
    const text = shaderText(scale, 'f32');
    expect(text).toContain('fn get_x(i: u32) -> vec4<f32> { return array_x[p.first_x + i]; }');
    expect(text).toContain('fn put_y(i: u32, value: f32) { array_y[p.first_y + i] = value; }');
    expect(text).not.toContain('put_x');
  });

  it('widens 16-bit storage where it is read and narrows it where it is written', () => {
    const text = shaderText(scale, 'f16');
    expect(text).toMatch(/^enable f16;\n/);
    expect(text).toContain(
      'fn get_x(i: u32) -> vec4<f32> { return vec4<f32>(array_x[p.first_x + i]); }',
    );
    expect(text).toContain('array_y[p.first_y + i] = f16(value);');
    expect(shaderText({ ...scale, arrays: { sums: 'write f32' } }, 'f16')).not.toContain('f16');
  });

  it('gives main the workgroup apart where it asks for it, so that barriers may depend on it', () => {
    expect(shaderText(scale, 'f32')).toContain('main(Place(global, local, group, index));');
    const apart = { ...scale, body: 'fn main(at: Place, group: vec3<u32>) {}' };
    expect(shaderText(apart, 'f32')).toContain('main(Place(global, local, group, index), group);');
  });

  it('enables subgroups and the record of failures only where they are declared', () => {
    const plain = shaderText(scale, 'f32');
    expect(plain).not.toMatch(/subgroup|fail/);
    const full = shaderText({ ...scale, subgroups: true, failures: ['x'] }, 'f32');
    expect(full).toMatch(/^enable subgroups;/);
    expect(full).toContain('@builtin(subgroup_size) width: u32');
    expect(full).toContain('@binding(4) var<storage, read_write> failures: Failures;');
    expect(full).toContain('launchNumber: u32 }');
  });

  it('refuses a body without main', () => {
    expect(() => shaderText({ ...scale, body: '' }, 'f32')).toThrow(StateError);
  });
});
