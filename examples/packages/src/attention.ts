/** Attention with gradients on native kernels: a group of two answers that share a prompt. */
import { attention, planSharedPrefix } from '@saccade/attention';
import { nativeBackend, probeNative } from '@saccade/backend-native';
import { type Backend, openDevice, referenceBackend } from '@saccade/ops';

const native = probeNative();
if (!native.available) throw new Error(native.message);

const [heads, keyHeads, width] = [4, 2, 16];
const plan = planSharedPrefix({ prefixLength: 24, responseLengths: [7, 9] });
const T = plan.tokenCount; // 40, not 31 + 33
const values = (count: number, phase: number): Float32Array =>
  Float32Array.from({ length: count }, (_, index) => Math.sin(0.7 * index + phase));

/** Outputs and gradients of one call, by name. */
async function attend(backend: Backend): Promise<Record<string, ArrayLike<number>>> {
  const device = openDevice(backend);
  const inputs = {
    q: device.upload('f32', [T, heads, width], values(T * heads * width, 1)),
    k: device.upload('f32', [T, keyHeads, width], values(T * keyHeads * width, 2)),
    v: device.upload('f32', [T, keyHeads, width], values(T * keyHeads * width, 3)),
    segments: device.upload('i32', [plan.segments.length / 3, 3], plan.segments),
  };
  const { out, lse } = device.forward(attention, inputs);
  const upstream = device.upload('f32', [T, heads, width], values(T * heads * width, 4));
  const { q, k, v } = device.backward(attention, { out: upstream }, inputs, { out, lse });
  const read = {
    out: await device.read(out),
    q: await device.read(q),
    k: await device.read(k),
    v: await device.read(v),
  };
  device.dispose();
  return read;
}

const [fast, exact] = [await attend(nativeBackend()), await attend(referenceBackend())];
let largest = 0;
for (const [name, wanted] of Object.entries(exact)) {
  const got = fast[name] ?? [];
  for (let i = 0; i < wanted.length; i++) {
    largest = Math.max(largest, Math.abs((got[i] ?? Number.NaN) - (wanted[i] ?? 0)));
  }
}
console.log(`kernels for ${native.instructionSets.join(', ')} in ${native.path}`);
console.log(`${T} tokens, out and 3 gradients: at most ${largest.toExponential(1)} from float64`);
if (!(largest < 1e-4)) throw new Error('the native kernels differ from the reference');
