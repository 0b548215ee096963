/// <reference types="@webgpu/types" preserve="true" />
/** WebGPU in this process, for us and for libraries that look for a browser's. */
import { probeWebGpu, type WebGpuAvailable, webgpuBackend } from '@saccade/backend-webgpu';
import { offerSoftwareGpu } from '@saccade/backend-webgpu/software-gpu';
import { MissingError, messageOf } from '@saccade/core';
import type { Backend } from '@saccade/ops';

export interface OpenWebGpu {
  readonly backend: Backend;
  readonly adapter: WebGpuAvailable;
}

/**
 * Our backend on the machine's GPU, else on the SwiftShader of an installed Chromium.
 *
 * From then on `navigator.gpu` is there as in a browser.
 *
 * @throws MissingError  with the reason and the remedy
 */
export async function openWebGpu(): Promise<OpenWebGpu> {
  offerSoftwareGpu();
  await standInForBrowser();
  // The one that the peers ask for, where a machine has several.
  const powerPreference = 'high-performance';
  const adapter = await probeWebGpu({ powerPreference });
  if (!adapter.available) throw new MissingError(adapter.message);
  return { backend: await webgpuBackend({ powerPreference }), adapter };
}

interface NodeNavigator {
  readonly userAgent?: string;
  readonly hardwareConcurrency?: number;
}

async function standInForBrowser(): Promise<void> {
  let dawn: typeof import('webgpu');
  try {
    dawn = await import('webgpu');
  } catch (error) {
    throw new MissingError(
      `Node has no WebGPU of its own, and the npm package webgpu (Dawn) does not load: ` +
        `${messageOf(error)}. Run npm run build.`,
    );
  }
  Object.assign(globalThis, dawn.globals);
  // Node 20 has no navigator; the peers read these of it.
  const { userAgent = `Node.js/${process.versions.node}`, hardwareConcurrency = 1 } =
    (globalThis as { readonly navigator?: NodeNavigator }).navigator ?? {};
  const navigator = { gpu: dawn.create([]), userAgent, hardwareConcurrency };
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
}
