/** The built pages in headless Chromium, for tests. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { findChromium, WEBGPU_FLAGS } from '../../../scripts/chromium.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const common = { root, configFile: join(root, 'vite.config.ts'), logLevel: 'error' } as const;

/** Why there is nothing to test in; undefined if there is. */
export function whyNoBrowser(): string | undefined {
  return findChromium() === undefined ? 'no Chromium is installed here' : undefined;
}

let folder: Promise<string> | undefined;

/** The folder of the built pages, which go with all that tests write. */
function builtFolder(): Promise<string> {
  folder ??= (async () => {
    const outDir = mkdtempSync(join(tmpdir(), 'saccade-browser-'));
    await build({ ...common, build: { outDir, emptyOutDir: true } });
    return outDir;
  })();
  return folder;
}

export class BuiltPages {
  readonly #server: PreviewServer;
  readonly #browser: Browser;
  readonly #address: string;

  private constructor(server: PreviewServer, browser: Browser, address: string) {
    this.#server = server;
    this.#browser = browser;
    this.#address = address;
  }

  /** Builds the pages once, serves them on a free port and starts Chromium. */
  static async open(flags: readonly string[] = WEBGPU_FLAGS): Promise<BuiltPages> {
    const server = await preview({
      ...common,
      build: { outDir: await builtFolder() },
      preview: { port: 0, host: '127.0.0.1' },
    });
    const [address] = server.resolvedUrls?.local ?? [];
    const executablePath = findChromium();
    if (address === undefined || executablePath === undefined) throw new Error(whyNoBrowser());
    const browser = await chromium.launch({
      executablePath,
      // Containers have no user namespaces; the pages are our own.
      args: ['--no-sandbox', '--headless=new', '--disable-dev-shm-usage', ...flags],
    });
    return new BuiltPages(server, browser, address);
  }

  /** A fresh page, and everything that its console reports as an error. */
  async visit(
    path: string,
    options: { readonly width: number; readonly dark?: boolean },
  ): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
    const page = await this.#browser.newPage({
      viewport: { width: options.width, height: 900 },
      colorScheme: options.dark === true ? 'dark' : 'light',
    });
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('requestfailed', (request) => errors.push(`${request.url()} could not be loaded`));
    await page.goto(new URL(path, this.#address).href);
    return { page, errors };
  }

  /** Kills the browser's GPU process: every page loses its devices. */
  async crashGpu(): Promise<void> {
    const session = await this.#browser.newBrowserCDPSession();
    // The answer may go down with it.
    await session.send('Browser.crashGpuProcess').catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#server.close();
  }
}
