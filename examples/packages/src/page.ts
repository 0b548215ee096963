/** Attention with gradients in a page, on WebGPU. */
import { attention, planVarlen } from '@saccade/attention';
import { probeWebGpu, webgpuBackend } from '@saccade/backend-webgpu';
import { openDevice } from '@saccade/ops';

async function attend(): Promise<string> {
  const webgpu = await probeWebGpu();
  if (!webgpu.available) return webgpu.message;
  const device = openDevice(await webgpuBackend());
  const segments = device.upload('i32', [1, 3], planVarlen([2]).segments);
  const q = device.upload('f32', [2, 1, 1], [1, 1]); // [T, H, D]
  const v = device.upload('f32', [2, 1, 1], [1, 3]);
  const inputs = { q, k: q, v, segments };
  const { out, lse } = device.forward(attention, inputs);
  const upstream = device.upload('f32', [2, 1, 1], [1, 1]);
  const gradients = device.backward(attention, { out: upstream }, inputs, { out, lse });
  const text = `out ${await device.read(out)}, gradient of v ${await device.read(gradients.v)}`;
  device.dispose();
  return `${text} on ${webgpu.description}`;
}

document.body.textContent = await attend();
