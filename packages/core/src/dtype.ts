/** Element types: names, byte widths, and the rounding of f16 and bf16. */
import { DtypeError } from './errors.ts';

/** Element types. f64 is for reference computations only; i32 holds indices, without gradients. */
export type DType = 'f32' | 'f16' | 'bf16' | 'i32' | 'f64';

/**
 * The host arrays that hold a dtype: f64 in Float64Array, f32 in Float32Array, i32 in Int32Array,
 * and f16 and bf16 as their 16-bit patterns in Uint16Array. A Uint16Array alone does not tell f16
 * from bf16, so functions take the dtype beside it.
 */
export type TypedArray = Float64Array | Float32Array | Uint16Array | Int32Array;

const BYTES: Readonly<Record<DType, number>> = { f64: 8, f32: 4, i32: 4, f16: 2, bf16: 2 };

/** Size of one element in bytes. */
export function bytesOf(dtype: DType): number {
  return BYTES[dtype];
}

/** A zeroed host array of `length` elements; f16 and bf16 are stored as 16-bit patterns. */
export function allocate(dtype: DType, length: number): TypedArray {
  switch (dtype) {
    case 'f64':
      return new Float64Array(length);
    case 'f32':
      return new Float32Array(length);
    case 'i32':
      return new Int32Array(length);
    case 'f16':
    case 'bf16':
      return new Uint16Array(length);
  }
}

/**
 * A view of `bytes` as elements of `dtype`, without a copy. By default it runs from `offsetBytes`
 * to the end.
 */
export function viewBytes(
  dtype: DType,
  bytes: ArrayBuffer,
  offsetBytes = 0,
  length?: number,
): TypedArray {
  switch (dtype) {
    case 'f64':
      return new Float64Array(bytes, offsetBytes, length);
    case 'f32':
      return new Float32Array(bytes, offsetBytes, length);
    case 'i32':
      return new Int32Array(bytes, offsetBytes, length);
    case 'f16':
    case 'bf16':
      return new Uint16Array(bytes, offsetBytes, length);
  }
}

const word = new Uint32Array(1);
const real = new Float32Array(word.buffer);

/** Bit pattern of the bf16 nearest to `value`, ties to even; NaN stays NaN. */
export function toBf16Bits(value: number): number {
  real[0] = value;
  const bits = word[0] as number;
  if (Number.isNaN(value)) return 0x7fc0;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Value of a bf16 bit pattern. */
export function fromBf16Bits(bits: number): number {
  word[0] = bits << 16;
  return real[0] as number;
}

/** Bit pattern of the IEEE half nearest to `value`, ties to even. */
export function toF16Bits(value: number): number {
  real[0] = value;
  const bits = word[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Subnormal half: a multiple of 2^-24, rounded to even by Math on an exact quotient.
    const scaled = Math.abs(real[0] as number) * 2 ** 24;
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    const up = rest > 0.5 || (rest === 0.5 && (floor & 1) === 1);
    return sign | (floor + (up ? 1 : 0));
  }
  const rebiased = magnitude - 0x38000000;
  return sign | ((rebiased + 0xfff + ((rebiased >>> 13) & 1)) >>> 13);
}

/** Value of an IEEE half bit pattern. */
export function fromF16Bits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * Stores `values` as `dtype`. f16 and bf16 round to nearest, ties to even.
 *
 * @throws DtypeError  if `dtype` is i32 and a value is not an integer
 */
export function encode(values: ArrayLike<number>, dtype: DType): TypedArray {
  const out = allocate(dtype, values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (dtype === 'bf16') out[i] = toBf16Bits(value);
    else if (dtype === 'f16') out[i] = toF16Bits(value);
    else {
      if (dtype === 'i32' && !Number.isInteger(value)) {
        throw new DtypeError(`i32 cannot hold ${value} (element ${i}). Pass an integer.`);
      }
      out[i] = value;
    }
  }
  return out;
}

/** The float64 values that `stored` holds as `dtype`. */
export function decode(stored: TypedArray, dtype: DType): Float64Array {
  const out = new Float64Array(stored.length);
  for (let i = 0; i < stored.length; i++) {
    const raw = stored[i] as number;
    out[i] = dtype === 'bf16' ? fromBf16Bits(raw) : dtype === 'f16' ? fromF16Bits(raw) : raw;
  }
  return out;
}

/** Values of all f16 patterns, made at the first use. */
let halves: Float32Array | undefined;

function toFloat32(stored: TypedArray, from: DType): Float32Array {
  if (stored instanceof Float32Array) return stored;
  if (!(stored instanceof Uint16Array)) return Float32Array.from(stored);
  const out = new Float32Array(stored.length);
  if (from === 'bf16') {
    const bits = new Uint32Array(out.buffer);
    for (let i = 0; i < bits.length; i++) bits[i] = (stored[i] as number) << 16;
    return out;
  }
  halves ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => fromF16Bits(bits));
  for (let i = 0; i < out.length; i++) out[i] = halves[stored[i] as number] as number;
  return out;
}

/**
 * `stored`, host elements of the float type `from`, as elements of the float type `to`; itself
 * where these are the same. f16 and bf16 round to nearest, ties to even, from float32.
 *
 * @throws DtypeError  if one of them is i32, whose values are not for rounding
 */
export function convert(stored: TypedArray, from: DType, to: DType): TypedArray {
  if (from === to) return stored;
  if (from === 'i32' || to === 'i32') {
    throw new DtypeError(`${from} does not convert to ${to}. Convert between float types only.`);
  }
  if (to === 'f64') return Float64Array.from(toFloat32(stored, from));
  const values = toFloat32(stored, from);
  if (to !== 'bf16') return to === 'f32' ? values : encode(values, to);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(bits.length);
  for (let i = 0; i < bits.length; i++) {
    const b = bits[i] as number;
    const isNumber = (b & 0x7fffffff) <= 0x7f800000;
    out[i] = isNumber ? (b + 0x7fff + ((b >>> 16) & 1)) >>> 16 : 0x7fc0;
  }
  return out;
}
