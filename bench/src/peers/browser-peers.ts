/** Peers that live in browsers: a page in Chromium measures them, beside our kernels there. */
import { fileURLToPath } from 'node:url';
import { MissingError, messageOf } from '@saccade/core';
import type { BesidePeers } from './beside-peers.ts';
import type { PageDescription, PageRequest, PageTask } from './browser-page.ts';
import { installPackages, packageFolder } from './load-package.ts';
import type { PeerResult } from './peer.ts';

export interface BrowserPeers {
  /** `Chrome/156 on google, swiftshader` */
  readonly where: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Ours and theirs in turns, in the page. */
  measure(task: PageTask): Promise<readonly PeerResult[]>;
  dispose(): Promise<void>;
}

/** `scripts/chromium.mjs`, which has no types. */
interface ChromiumModule {
  readonly WEBGPU_FLAGS: readonly string[];
  findChromium(): string | undefined;
  openInChromium(
    chromium: string,
    page: {
      readonly entry: string;
      readonly flags: readonly string[];
      readonly folders: Readonly<Record<string, string>>;
    },
    options: { readonly timeoutSeconds: number },
  ): Promise<{ ask(request: PageRequest): Promise<unknown>; close(): Promise<void> }>;
}

/** A case with all its rounds on a processor that plays the GPU, where other things run. */
const TIMEOUT_SECONDS = 900;
/** Where there is a GPU; headless Chromium leaves Vulkan off on Linux. */
const GPU_FLAGS = ['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--ignore-gpu-blocklist'];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * @param isSoftware  whether our device in this process is a processor: then the page's is as well
 * @throws MissingError  without a Chromium, or if its WebGPU is another than this process's
 */
export async function openBrowserPeers(isSoftware: boolean): Promise<BrowserPeers> {
  installPackages();
  const script = new URL('../../../scripts/chromium.mjs', import.meta.url).href;
  const chromium: ChromiumModule = await import(script);
  const path = chromium.findChromium();
  if (path === undefined) {
    throw new MissingError('It runs in a browser, and there is no Chromium. Install chromium.');
  }
  const page = await chromium.openInChromium(
    path,
    {
      entry: here('../../src/peers/browser-page.ts'),
      flags: isSoftware ? chromium.WEBGPU_FLAGS : GPU_FLAGS,
      folders: { 'onnxruntime-web': `${packageFolder('onnxruntime-web')}/dist` },
    },
    { timeoutSeconds: TIMEOUT_SECONDS },
  );
  try {
    const opened = (await page.ask({})) as PageDescription;
    if (opened.isSoftware !== isSoftware) {
      throw new MissingError(
        `Chromium's adapter is ${opened.adapter}, not the one of this process. Give it the GPU.`,
      );
    }
    const where = `${opened.browser} on ${opened.adapter}`;
    return {
      where,
      versions: Object.fromEntries(
        opened.peers.map(({ name, version }) => [name, `${version}, beside ours in ${where}`]),
      ),
      async measure(task) {
        if (task.dtype === 'f16' && !opened.hasHalves) {
          const missing = `has no shader-f16 in ${where}`;
          return opened.peers.map(({ name }) => ({ peer: name, missing }));
        }
        let measured: BesidePeers;
        try {
          measured = (await page.ask({ task })) as BesidePeers;
        } catch (error) {
          const missing = `fails in ${opened.browser}: ${messageOf(error).split('\n')[0]}`;
          return opened.peers.map(({ name }) => ({ peer: name, missing }));
        }
        const { ours, peers } = measured;
        return peers.map((peer) =>
          'missing' in peer || ours === undefined ? peer : { ...peer, where, ours },
        );
      },
      dispose: () => page.close(),
    };
  } catch (error) {
    await page.close();
    throw error;
  }
}
