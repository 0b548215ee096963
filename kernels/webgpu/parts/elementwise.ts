/**
 * Kernels that compute each element of flat arrays from the same element of others.
 *
 * A thread owns one element, or four where rows are whole vectors and all arrays are aligned; the
 * arithmetic is one scalar function in both. Arrays beyond the binding limit go in slices.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type ArrayKind, type NumberKind, type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';

export interface Elementwise {
  readonly name: string;
  readonly inputs: readonly string[];
  /** By output: its value as WGSL of the inputs' names, numbers as `p.name`. */
  readonly outputs: Readonly<Record<string, string>>;
  /** The arrays that are not stored as the launch's storage type. */
  readonly kinds?: Readonly<Record<string, ArrayKind>>;
  readonly numbers?: Readonly<Record<string, NumberKind>>;
  /** Functions that the values use. */
  readonly functions?: string;
}

const THREADS = 128;

/**
 * The passes of a launch. Outputs that the launch does not want are left out; an input the launch
 * lacks, such as the gradient of an output that is zero, makes all outputs zeros.
 *
 * @param D  length of a row; it alone decides between elements and vectors
 */
export type ElementwisePasses = (
  call: KernelCall,
  D: number,
  numbers?: Readonly<Record<string, number>>,
) => readonly Pass[];

export function elementwise(declared: Elementwise): ElementwisePasses {
  const variants = new Map<string, Shader>();
  const variant = (outputs: readonly string[], isVector: boolean, isZero: boolean): Shader => {
    const key = `${outputs.join()} ${isVector} ${isZero}`;
    let made = variants.get(key);
    if (made === undefined) {
      made = elementwiseShader(declared, outputs, isVector, isZero);
      variants.set(key, made);
    }
    return made;
  };
  return (call, D, numbers = {}) => {
    const given: Record<string, GpuArray> = {};
    const outputs = Object.keys(declared.outputs).filter((name) => name in call.arrays);
    const isZero = declared.inputs.some((name) => call.arrays[name] === undefined);
    for (const name of isZero ? outputs : [...declared.inputs, ...outputs]) {
      const array = call.arrays[name];
      if (array !== undefined) given[name] = array;
    }
    if (outputs.length === 0) return [];
    const isVector = D % 4 === 0 && Object.values(given).every(({ isAligned }) => isAligned);
    const made = variant(outputs, isVector, isZero);
    const length = given[outputs[0]].length;
    const step = Math.floor(call.limits.bindingBytes / 4096) * 1024;
    return Array.from({ length: Math.ceil(length / step) }, (_, i) => {
      const [start, end] = [i * step, Math.min(length, (i + 1) * step)];
      const count = (end - start) / (isVector ? 4 : 1);
      const { workgroups, across } = foldGroups(Math.ceil(count / THREADS), call.limits);
      const whole = start === 0 && end === length;
      const arrays = whole
        ? given
        : Object.fromEntries(
            Object.entries(given).map(([name, array]) => [name, array.slice(start, end)]),
          );
      const stride = across * THREADS;
      return { shader: made, arrays, numbers: { ...numbers, count, stride }, workgroups };
    });
  };
}

function elementwiseShader(
  { name, inputs, outputs, kinds = {}, numbers = {}, functions = '' }: Elementwise,
  wanted: readonly string[],
  isVector: boolean,
  isZero: boolean,
): Shader {
  const read = isZero ? [] : inputs;
  const width = isVector ? ' vec4' : '';
  const use = (access: 'read' | 'write', names: readonly string[]) =>
    names.map((array) => [array, `${access} ${kinds[array] ?? 'stored'}${width}`] as const);
  const parameters = read.map((input) => `${input}: f32`).join(', ');
  const values = wanted.map(
    (output) => `fn value_of_${output}(${parameters}) -> f32 { return ${outputs[output]}; }`,
  );
  const call = (output: string, lane: string): string =>
    isZero ? '0.0' : `value_of_${output}(${read.map((input) => `${input}${lane}`).join(', ')})`;
  const stores = wanted.map((output) => {
    const lanes = ['.x', '.y', '.z', '.w'].map((lane) => call(output, lane));
    const value = isVector ? `vec4<f32>(${lanes.join(', ')})` : call(output, '');
    return `  put_${output}(i, ${value});`;
  });
  return shader({
    name,
    arrays: Object.fromEntries([...use('read', read), ...use('write', wanted)]),
    numbers: { ...numbers, count: 'u32', stride: 'u32' },
    threads: [THREADS, 1, 1],
    body: `${functions}
${isZero ? '' : values.join('\n')}
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
${read.map((input) => `  let ${input} = get_${input}(i);`).join('\n')}
${stores.join('\n')}
}`,
  });
}
