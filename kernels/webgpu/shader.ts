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
 * For an array `x` the header has `get_x(i) -> f32` (i32 and u32 for those kinds) and, if it is
 * written, `put_x(i, value)`; with `vec4` the index counts groups of four and the value is a
 * vector. `Place` has `global`, `local` (vec3<u32>), `index` (of the thread in its workgroup),
 * `group` (vec3<u32>), and with `subgroups` `lane` and `width`.
 *
 * The compiler proves uniformity per parameter, and `Place` holds what differs by thread. If a
 * barrier follows a branch or is in a loop that depends on the workgroup, write
 * `fn main(at: Place, group: vec3<u32>)`: the workgroup is passed once more, alone.
 */

/** Element type of an array; `stored` is the launch's storage type, read and written as f32. */
export type ArrayKind = 'stored' | 'f32' | 'i32' | 'u32';
/**
 * Access and element type of an array, for example `read stored`. With `vec4` an index counts
 * groups of four elements, and a value is a vector.
 */
export type ArrayUse = `${'read' | 'write'} ${ArrayKind}` | `${'read' | 'write'} ${ArrayKind} vec4`;
/** WGSL type of a number that is passed with each dispatch. */
export type NumberKind = 'u32' | 'i32' | 'f32';

/** Declaration of a shader: its arrays, numbers and workgroup, and the WGSL body over them. */
export interface ShaderOptions {
  /** Name in messages and labels. */
  readonly name: string;
  readonly arrays: Readonly<Record<string, ArrayUse>>;
  readonly numbers: Readonly<Record<string, NumberKind>>;
  /** Threads of a workgroup along x, y and z. */
  readonly threads: readonly [number, number, number];
  /** WGSL with `fn main(at: Place)`; module-scope declarations may precede it. */
  readonly body: string;
  /** Requires the feature `subgroups`. */
  readonly subgroups?: boolean;
  /**
   * Requires matrices of subgroups, float16 and subgroups. `Place` then also has `subgroup`, the
   * subgroup's number.
   */
  readonly matrices?: boolean;
  /**
   * Messages for invalid data, each a fact and a remedy. The body reports message i with `fail(i:
   * u32, index: u32, value: i32)`. {index}, {value} and the names of the pass's numbers are
   * replaced. The first report of a launch becomes a DataError. The shader must stay inside its
   * arrays even then.
   */
  readonly failures?: readonly string[];
}

/** A declared shader. Compiled shaders are cached by this object, then by their text. */
export type Shader = Readonly<ShaderOptions>;

/**
 * Declares a shader. Keep the object: its WGSL is generated once per object and compiled once per
 * text.
 */
export function shader(options: ShaderOptions): Shader {
  return options;
}
