/**
 * Shaders from a declaration and a body. The header (bindings, numbers, accessors) is generated, so
 * a body is arithmetic only and the same for every storage type.
 *
 *   const scale = shader({
 *     name: 'scale rows',
 *     arrays: { x: 'read stored', y: 'write stored' },
 *     numbers: { count: 'u32', factor: 'f32' },
 *     threads: [64, 1, 1],
 *     body: `
 *       fn main(at: Place) {
 *         if (at.global.x >= p.count) { return; }
 *         put_y(at.global.x, p.factor * get_x(at.global.x));
 *       }`,
 *   });
 *
 * For an array `x` the header has `get_x(i) -> f32` (i32 and u32 for those kinds), and if it is
 * written `put_x(i, value)`; with `vec4` the index counts groups of four and the value is a vector.
 * `Place` has `global`, `local` (vec3<u32>), `index` (of the thread in its workgroup), `group`
 * (vec3<u32>), and with `subgroups` `lane` and `width`.
 *
 * The compiler proves uniformity per parameter, and `Place` holds what differs by thread. Where a
 * barrier stands behind a branch or in a loop that depends on the workgroup, write
 * `fn main(at: Place, group: vec3<u32>)`: the workgroup is passed once more, alone.
 */

/** `stored` is the launch's storage type, read and written as f32. */
export type ArrayKind = 'stored' | 'f32' | 'i32' | 'u32';
export type ArrayUse = `${'read' | 'write'} ${ArrayKind}` | `${'read' | 'write'} ${ArrayKind} vec4`;
export type NumberKind = 'u32' | 'i32' | 'f32';

export interface ShaderOptions {
  /** For messages and labels. */
  readonly name: string;
  readonly arrays: Readonly<Record<string, ArrayUse>>;
  readonly numbers: Readonly<Record<string, NumberKind>>;
  /** Threads of a workgroup along x, y and z. */
  readonly threads: readonly [number, number, number];
  /** WGSL with `fn main(at: Place)`; module-scope declarations may stand before it. */
  readonly body: string;
  /** Asks for the feature `subgroups`. */
  readonly subgroups?: boolean;
  /**
   * Asks for matrices of subgroups, for float16 and for subgroups; `Place` then also has `subgroup`,
   * its number.
   */
  readonly matrices?: boolean;
  /**
   * What can be wrong with the data, one sentence and remedy each. The body reports with
   * `fail(i: u32, index: u32, value: i32)`, i counting these; {index}, {value} and the numbers of the
   * pass by their names are put in. The first report of a launch becomes a DataError; a shader must
   * stay inside its arrays all the same.
   */
  readonly failures?: readonly string[];
}

export type Shader = Readonly<ShaderOptions>;

/** Says a shader. It is compiled once per text; keep the object, so that the text is made once. */
export function shader(options: ShaderOptions): Shader {
  return options;
}
