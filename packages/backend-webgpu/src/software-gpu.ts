/**
 * WebGPU in Node for tests and benchmarks: the machine's GPU, else SwiftShader and the Vulkan loader of a Chromium that
 * is installed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { probeWebGpu, type WebGpuAvailable, type WebGpuUnavailable } from './find-gpu.ts';

const CHROMIUMS = [
  '/usr/lib/chromium',
  '/usr/lib/chromium-browser',
  '/opt/google/chrome',
  '/opt/chromium.org/chromium',
];

/** What tells the Vulkan loader of SwiftShader, whose library lies beside it. */
const MANIFEST = 'vk_swiftshader_icd.json';

/** Flags of dlopen on Linux: RTLD_NOW, and keep the library when its handle is closed. */
const LOAD_FOR_GOOD = 0x1002;

/** {@link offerSoftwareGpu}, then probes. */
export async function probeForTests(): Promise<WebGpuAvailable | WebGpuUnavailable> {
  offerSoftwareGpu();
  const probe = await probeWebGpu();
  if (!probe.available) console.warn(`WebGPU tests are skipped: ${probe.message}`);
  return probe;
}

/**
 * Points the Vulkan loader at SwiftShader where this machine has no GPU. Only before anything opens
 * WebGPU in this process.
 */
export function offerSoftwareGpu(): void {
  if (process.platform === 'linux' && !hasGpu()) useSwiftShader();
}

/** Code that a test's child process runs first, to find the same adapter. */
export function childPreamble(): string {
  const loader = loaderOf(chromium());
  return loader === undefined
    ? ''
    : `try { process.dlopen({ exports: {} }, ${JSON.stringify(loader)}, ${LOAD_FOR_GOOD}); } catch {}`;
}

function hasGpu(): boolean {
  const { VK_ICD_FILENAMES, VK_DRIVER_FILES } = process.env;
  if (VK_ICD_FILENAMES !== undefined || VK_DRIVER_FILES !== undefined) return true;
  return (
    existsSync('/dev/dri') && readdirSync('/dev/dri').some((name) => name.startsWith('render'))
  );
}

function chromium(): string | undefined {
  const files = [MANIFEST, 'libvk_swiftshader.so'];
  return CHROMIUMS.find((path) => files.every((file) => existsSync(join(path, file))));
}

/** Chromium brings the Vulkan loader too; once it is in the process, Dawn finds it by its name. */
function loaderOf(folder: string | undefined): string | undefined {
  const loader = folder === undefined ? undefined : join(folder, 'libvulkan.so.1');
  return loader !== undefined && existsSync(loader) ? loader : undefined;
}

function useSwiftShader(): void {
  const folder = chromium();
  if (folder === undefined) return;
  process.env.VK_ICD_FILENAMES = join(folder, MANIFEST);
  const loader = loaderOf(folder);
  if (loader === undefined) return;
  try {
    process.dlopen({ exports: {} }, loader, LOAD_FOR_GOOD);
  } catch {
    // It is loaded, but is no addon: Node says so.
  }
}
