/**
 * The WGSL of a shader: the declared arrays and numbers become bindings and accessors, followed by
 * the body.
 *
 * Binding 0 holds the numbers in the order declared, then for each array the index of its first
 * element: bindings start at multiples of 256 bytes, arrays anywhere. Bindings 1, 2, … are the
 * arrays in the order declared; the record of failures comes last.
 */
import { StateError } from '@saccade/core';
import type { Shader } from '@saccade/webgpu-kernels';

/**
 * The number of a subgroup is uniform within it, but the compiler cannot prove it through `Place`,
 * so bodies themselves must keep a subgroup together.
 */
const MATRIX_DIRECTIVES = [
  'enable chromium_experimental_subgroup_matrix;',
  'diagnostic(off, chromium.subgroup_matrix_uniformity);',
];

/** The declaration of an array, parsed. */
export interface DeclaredArray {
  readonly name: string;
  readonly isWritten: boolean;
  /** WGSL type of an element as stored. */
  readonly stored: 'f32' | 'f16' | 'i32' | 'u32';
  /** Elements that an index counts: 1 or 4. */
  readonly width: 1 | 4;
}

/** Name of the function that the device starts. */
export const ENTRY_POINT = 'startShader';

/** The name of the number that identifies a failure's launch. */
const LAUNCH_NUMBER = 'launchNumber';

/** Bytes of the record of failures: count, launch, sentence, index, value, and room. */
export const FAILURE_RECORD_BYTES = 32;

export function declaredArrays(
  { arrays }: Shader,
  storage: 'f32' | 'f16',
): readonly DeclaredArray[] {
  return Object.entries(arrays).map(([name, use]) => {
    const [access, kind, vec4] = use.split(' ');
    return {
      name,
      isWritten: access === 'write',
      stored: kind === 'stored' ? storage : (kind as 'f32' | 'i32' | 'u32'),
      width: vec4 === 'vec4' ? 4 : 1,
    };
  });
}

/** Names of the uniform's members in order: numbers, first elements, the launch's number. */
export function uniformMembers(shader: Shader): readonly string[] {
  return [
    ...Object.keys(shader.numbers),
    ...Object.keys(shader.arrays).map(firstOf),
    ...(shader.failures === undefined ? [] : [LAUNCH_NUMBER]),
  ];
}

/**
 * The whole text.
 *
 * @throws StateError  if the body has no `main`
 */
export function shaderText(shader: Shader, storage: 'f32' | 'f16'): string {
  const arrays = declaredArrays(shader, storage);
  const hasFailures = shader.failures !== undefined;
  const hasMatrices = shader.matrices === true;
  const numbers = [
    ...Object.entries(shader.numbers).map(([name, kind]) => `${name}: ${kind}`),
    ...arrays.map(({ name }) => `${firstOf(name)}: u32`),
    ...(hasFailures ? [`${LAUNCH_NUMBER}: u32`] : []),
  ];
  const enables = [
    ...(hasMatrices || arrays.some(({ stored }) => stored === 'f16') ? ['enable f16;'] : []),
    ...(hasMatrices || shader.subgroups === true ? ['enable subgroups;'] : []),
    ...(hasMatrices ? MATRIX_DIRECTIVES : []),
  ];
  return [
    ...enables,
    `struct Numbers { ${numbers.length === 0 ? 'unused: u32' : numbers.join(', ')} }`,
    '@group(0) @binding(0) var<uniform> p: Numbers;',
    ...arrays.map(accessors),
    ...(hasFailures ? [failureText(arrays.length + 1)] : []),
    entryText(shader),
    shader.body,
    '',
  ].join('\n');
}

function firstOf(name: string): string {
  return `first_${name}`;
}

function accessors({ name, isWritten, stored, width }: DeclaredArray, position: number): string {
  const read = stored === 'f16' ? 'f32' : stored;
  const [element, value] = width === 4 ? [`vec4<${stored}>`, `vec4<${read}>`] : [stored, read];
  const access = isWritten ? 'read_write' : 'read';
  const at = `array_${name}[p.${firstOf(name)} + i]`;
  const lines = [
    `@group(0) @binding(${position + 1}) var<storage, ${access}> array_${name}: array<${element}>;`,
    `fn get_${name}(i: u32) -> ${value} { return ${stored === read ? at : `${value}(${at})`}; }`,
  ];
  if (isWritten) {
    const narrowed = stored === read ? 'value' : `${element}(value)`;
    lines.push(`fn put_${name}(i: u32, value: ${value}) { ${at} = ${narrowed}; }`);
  }
  return lines.join('\n');
}

/**
 * The record keeps the first failure since it was last read; the count shows that there was one.
 */
function failureText(binding: number): string {
  return `struct Failures { count: atomic<u32>, launch: u32, sentence: u32, index: u32, value: i32 }
@group(0) @binding(${binding}) var<storage, read_write> failures: Failures;
fn fail(sentence: u32, index: u32, value: i32) {
  if (atomicAdd(&failures.count, 1u) == 0u) {
    failures.launch = p.${LAUNCH_NUMBER};
    failures.sentence = sentence;
    failures.index = index;
    failures.value = value;
  }
}`;
}

/**
 * Place and the entry point. A barrier may stand where control flow is uniform only, and the
 * compiler proves that per parameter: `main(at: Place, group: vec3<u32>)` is given the workgroup
 * once more, apart from what differs by thread.
 */
function entryText({ name, threads, subgroups, matrices, body }: Shader): string {
  const main = /fn\s+main\s*\(([^)]*)\)/.exec(body);
  if (main === null) throw new StateError(`The shader "${name}" has no fn main(at: Place).`);
  const members = [
    ['global', 'vec3<u32>', 'global_invocation_id'],
    ['local', 'vec3<u32>', 'local_invocation_id'],
    ['group', 'vec3<u32>', 'workgroup_id'],
    ['index', 'u32', 'local_invocation_index'],
    ...(subgroups === true
      ? [
          ['lane', 'u32', 'subgroup_invocation_id'],
          ['width', 'u32', 'subgroup_size'],
        ]
      : []),
    ...(matrices === true ? [['subgroup', 'u32', 'subgroup_id']] : []),
  ] as const;
  const fields = members.map(([member, type]) => `${member}: ${type}`).join(', ');
  const builtins = members.map(([member, type, id]) => `@builtin(${id}) ${member}: ${type}`);
  const place = `Place(${members.map(([member]) => member).join(', ')})`;
  const isGroupApart = (main[1] ?? '').split(',').filter((text) => text.trim() !== '').length > 1;
  return `struct Place { ${fields} }
@compute @workgroup_size(${threads.join(', ')})
fn ${ENTRY_POINT}(
  ${builtins.join(',\n  ')},
) {
  main(${place}${isGroupApart ? ', group' : ''});
}`;
}
