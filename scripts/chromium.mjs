/**
 * Runs a module in headless Chromium and gives back what it says: WebGL2 and WebGPU as browsers have
 * them, drawn by SwiftShader where there is no GPU.
 *
 *   const chromium = findChromium();
 *   const page = { entry: 'packages/x/src/page.fixture.ts', flags: WEBGL_FLAGS };
 *   const value = await runInChromium(chromium, page, { onReport: (report) => … });
 *
 * The module exports `run({ request, report })`: what it gives `report`, and its result, are sent back
 * as JSON. It is bundled from source.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
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
 * Bundles a page's module, runs it and resolves with what its `run` gave.
 *
 * @param {string} chromium  path of the executable
 * @param {Page} page
 * @param {Options} options
 * @returns {Promise<unknown>}
 * @throws Error with what the page or the browser said if it fails or does not end in time
 *
 * @typedef {{ entry: string, flags: readonly string[], folders?: Readonly<Record<string, string>> }}
 *   Page  path of the module; the browser's flags; folders whose files the page may fetch, by their
 *   first name in an address
 * @typedef {{ timeoutSeconds?: number, onReport?: (report: any) => void, signal?: AbortSignal }}
 *   Options  seconds of a question; `signal` rejects the question under way
 */
export async function runInChromium(chromium, page, options) {
  const open = await openInChromium(chromium, page, options);
  try {
    return await open.ask();
  } finally {
    await open.close();
  }
}

/**
 * Bundles a page's module and keeps it open: `ask(request)` resolves with what its `run` gave and
 * rejects as {@link runInChromium} does. One question at a time.
 *
 * @param {string} chromium  path of the executable
 * @param {Page} page
 * @param {Options} options
 * @returns {Promise<{ ask(request?: unknown): Promise<unknown>, close(): Promise<void> }>}
 */
export async function openInChromium(chromium, { entry, flags, folders = {} }, options = {}) {
  const { timeoutSeconds = 120, onReport = () => {}, signal } = options;
  const files = await bundle(resolve(entry));
  const profile = mkdtempSync(join(tmpdir(), 'saccade-chromium-'));
  const { server, address, post } = await serve(files, folders, onReport);
  const browser = spawn(
    chromium,
    [
      '--headless=new',
      // Containers have no user namespaces; the page is our own.
      '--no-sandbox',
      '--no-first-run',
      '--disable-dev-shm-usage',
      `--user-data-dir=${profile}`,
      ...flags,
      address,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  browser.stderr.on('data', (text) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise((done) => browser.once('close', done));
  return {
    async ask(request) {
      let timer;
      try {
        return await Promise.race([
          post(request),
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
      }
    },
    async close() {
      browser.kill('SIGKILL');
      await ended;
      server.close();
      server.closeAllConnections();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
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
               for (;;) {
                 const question = await fetch('/question');
                 if (question.status === 204) continue;
                 const { request } = await question.json();
                 const answer = await Promise.resolve({ request, report }).then(run).then(
                   (value) => ({ value }),
                   (error) => ({ error: String(error?.stack ?? error) }),
                 );
                 await send(answer);
               }`
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

/** A page asks again after this: no connection is open for so long that someone ends it. */
const PATIENCE_MILLISECONDS = 20_000;

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** A server for the page on a free port, and `post`, which hands the page a question. */
async function serve(files, folders, onReport) {
  /** The question on its way, and the page's request that waits for one. */
  let [question, waiting] = [];
  const hand = () => {
    if (question === undefined || waiting === undefined || question.isAsked) return;
    question.isAsked = true;
    waiting.end(JSON.stringify({ request: question.request }));
    waiting = undefined;
  };
  const server = createServer(async (request, response) => {
    if (request.url === '/question') {
      waiting = response;
      setTimeout(() => {
        if (waiting !== response) return;
        waiting = undefined;
        response.writeHead(204).end();
      }, PATIENCE_MILLISECONDS).unref();
      hand();
      return;
    }
    if (request.method === 'POST') {
      let body = '';
      for await (const text of request) body += text;
      response.end();
      const { report, value, error } = JSON.parse(body);
      if (report !== undefined) {
        onReport(report);
        return;
      }
      if (error === undefined) question?.settle(value);
      else question?.reject(new Error(`The page failed: ${error}`));
      question = undefined;
      return;
    }
    const path = new URL(request.url, 'http://page').pathname;
    const content = path === '/' ? PAGE : (files.get(path) ?? readFrom(folders, path));
    const type = path === '/' ? TYPES['.html'] : TYPES[extname(path)];
    response.writeHead(content === undefined ? 404 : 200, {
      'content-type': type ?? 'application/octet-stream',
    });
    response.end(content);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const post = (request) =>
    new Promise((settle, reject) => {
      question = { request, settle, reject, isAsked: false };
      hand();
    });
  return { server, address: `http://127.0.0.1:${server.address().port}/`, post };
}

/** A file of one of the folders; no path leads out of them. */
function readFrom(folders, path) {
  const [, name = '', ...rest] = path.split('/');
  const folder = Object.hasOwn(folders, name) ? folders[name] : undefined;
  if (folder === undefined || rest.includes('..')) return undefined;
  const file = join(folder, ...rest);
  return existsSync(file) ? readFileSync(file) : undefined;
}
