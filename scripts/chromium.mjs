/**
 * Runs a module in headless Chromium and gives back what it says: WebGL2 and WebGPU as browsers have
 * them, drawn by SwiftShader where there is no GPU.
 *
 *   const chromium = findChromium();
 *   const page = { entry: 'packages/x/src/page.fixture.ts', flags: WEBGL_FLAGS };
 *   const value = await runInChromium(chromium, page, { onReport: (report) => … });
 *
 * The module exports `run(report)`: what it gives `report`, and its result, are sent back as JSON.
 * It is bundled from source.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'vite';

const CANDIDATES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** WebGL2 through ANGLE, on SwiftShader. */
export const WEBGL_FLAGS = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];
/** WebGPU on SwiftShader. */
export const WEBGPU_FLAGS = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="/page.js"></script>`;

/** The path of an installed Chromium or Chrome, or `undefined`. */
export function findChromium() {
  return CANDIDATES.find((path) => existsSync(path));
}

/**
 * Bundles a page's module, runs it and resolves with what its `run()` gave.
 *
 * @template Report
 * @param {string} chromium  path of the executable
 * @param {{ entry: string, flags: readonly string[] }} page  path of the module, the browser's flags
 * @param {{ timeoutSeconds?: number, onReport?: (report: Report) => void, signal?: AbortSignal }}
 *   options  `signal` ends the browser and rejects
 * @returns {Promise<unknown>}
 * @throws Error with what the page or the browser said if it fails or does not end in time
 */
export async function runInChromium(chromium, page, options = {}) {
  const { timeoutSeconds = 120, onReport = () => {}, signal } = options;
  const files = await bundle(resolve(page.entry));
  const profile = mkdtempSync(join(tmpdir(), 'saccade-chromium-'));
  const { server, address, answer } = await serve(files, onReport);
  const browser = spawn(
    chromium,
    [
      '--headless=new',
      // Containers have no user namespaces; the page is our own.
      '--no-sandbox',
      '--no-first-run',
      '--disable-dev-shm-usage',
      `--user-data-dir=${profile}`,
      ...page.flags,
      address,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  browser.stderr.on('data', (text) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise((done) => browser.once('close', done));
  let timer;
  try {
    return await Promise.race([
      answer,
      ended.then(() => {
        throw new Error(`Chromium ended before the page did. It said: ${said}`);
      }),
      new Promise((_, reject) => {
        const text = `The page did not end within ${timeoutSeconds} s. Chromium said: `;
        timer = setTimeout(() => reject(new Error(text + said)), timeoutSeconds * 1000);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    browser.kill('SIGKILL');
    await ended;
    server.close();
    server.closeAllConnections();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The page's scripts by path, `/page.js` first; packages are taken from source. */
async function bundle(entry) {
  const start = 'virtual:page';
  const { output } = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === start ? start : undefined),
        load: (id) =>
          id === start
            ? `import { run } from ${JSON.stringify(entry)};
               const send = (answer) =>
                 fetch('/answer', { method: 'POST', body: JSON.stringify(answer) });
               const report = async (report) => void (await send({ report }));
               Promise.resolve(report).then(run).then(
                 (value) => send({ value }),
                 (error) => send({ error: String(error?.stack ?? error) }),
               );`
            : undefined,
      },
    ],
    resolve: { conditions: ['@saccade/source', 'module', 'browser', 'import'] },
    build: {
      write: false,
      target: 'es2023',
      // Stacks and names of errors are for people.
      minify: false,
      rolldownOptions: {
        input: start,
        output: { entryFileNames: 'page.js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  return new Map(output.map((file) => [`/${file.fileName}`, file.code ?? file.source]));
}

/** A server for the page on a free port, and a promise of what the page sends back at its end. */
async function serve(files, onReport) {
  const { promise, resolve: settle, reject } = promiseParts();
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const text of request) body += text;
      response.end();
      const { report, value, error } = JSON.parse(body);
      if (report !== undefined) onReport(report);
      else if (error === undefined) settle(value);
      else reject(new Error(`The page failed: ${error}`));
      return;
    }
    const text = request.url === '/' ? PAGE : files.get(request.url);
    const type = request.url === '/' ? 'text/html' : 'text/javascript';
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': type });
    response.end(text);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { server, address: `http://127.0.0.1:${server.address().port}/`, answer: promise };
}

function promiseParts() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => {
    Object.assign(parts, { resolve, reject });
  });
  return parts;
}
