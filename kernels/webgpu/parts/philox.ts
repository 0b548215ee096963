/**
 * Philox4x32-10 and Gumbel numbers in WGSL: the same address gives the same bits as
 * `packages/core/src/rng.ts`.
 *
 * Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
 */

/** `philox(counter, key) -> vec4<u32>`. WGSL has no 64-bit product, so it goes by 16-bit halves. */
export const PHILOX = `
fn multiply_high(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let middle = a_high * b_low + ((a_low * b_low) >> 16u);
  let carry = (middle & 0xffffu) + a_low * b_high;
  return a_high * b_high + (middle >> 16u) + (carry >> 16u);
}

fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round++) {
    c = vec4<u32>(
      multiply_high(0xcd9e8d57u, c.z) ^ c.y ^ k.x,
      0xcd9e8d57u * c.z,
      multiply_high(0xd2511f53u, c.x) ^ c.w ^ k.y,
      0xd2511f53u * c.x);
    k += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}`;

/**
 * `natural_log(x)` of a normal x > 0 and `gumbel(word)` = −ln(−ln u), u = ((word >> 8) + ½)/2²⁴.
 *
 * Not WGSL's `log`: it may be off by 2⁻²¹ near 1, where −ln u of the largest numbers, which decide
 * a draw, is smaller than that. The polynomial is that of Cephes' logf (Moshier 1989).
 */
export const LOGARITHM = `
// ln((1 + x)·2^e) for x in [√½ − 1, √2 − 1].
fn log_reduced(x: f32, e: f32) -> f32 {
  var y = fma(x, 7.0376836292e-2, -1.1514610310e-1);
  y = fma(x, y, 1.1676998740e-1);
  y = fma(x, y, -1.2420140846e-1);
  y = fma(x, y, 1.4249322787e-1);
  y = fma(x, y, -1.6668057665e-1);
  y = fma(x, y, 2.0000714765e-1);
  y = fma(x, y, -2.4999993993e-1);
  y = fma(x, y, 3.3333331174e-1);
  let square = x * x;
  y = fma(y * x, square, e * -2.12194440e-4);
  y = fma(square, -0.5, y);
  return fma(e, 0.693359375, x + y);
}

fn natural_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let e = f32(i32(bits >> 23u) - 126);
  let half = bitcast<f32>((bits & 0x7fffffu) | 0x3f000000u);
  if (half < 0.70710678) { return log_reduced(half + half - 1.0, e - 1.0); }
  return log_reduced(half - 1.0, e);
}

// Above ½ u needs 25 bits; there it is taken as 1 − w with w exact.
fn minus_log_unit(word: u32) -> f32 {
  let n = word >> 8u;
  if (n < 0x800000u) { return -natural_log((f32(n) + 0.5) * 0x1p-24); }
  let w = (f32(0xffffffu - n) + 0.5) * 0x1p-24;
  if (w < 0.29289) { return -log_reduced(-w, 0.0); }
  return -log_reduced(1.0 - 2.0 * w, -1.0);
}

fn gumbel(word: u32) -> f32 {
  return -natural_log(minus_log_unit(word));
}`;
