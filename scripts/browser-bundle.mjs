/**
 * Bundles a package for browsers, alone and whole: what is in it, and how large it is.
 *
 *   node scripts/browser-bundle.mjs            every package that promises to run in browsers
 *   node scripts/browser-bundle.mjs attention
 */
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** In the order of layers.json. */
export const BROWSER_PACKAGES = [
  'core',
  'statistics',
  'ops',
  'attention',
  'logprob',
  'backend-webgpu',
  'tensor',
  'nn',
  'optim',
  'trajectory',
  'math-verify',
  'policy',
  'code-effects',
  'rollout',
  'rewards',
  'algorithms',
  'schedulers',
  'learner',
];

const BUILTIN = new Set(builtinModules);

/**
 * @param {string} name  of a package, without its scope
 * @param {string} code  a module; it is bundled as if it lay in the package's folder
 * @returns {Promise<{ modules: string[], builtins: string[], minified: number, gzipped: number }>}
 *   files of the module graph, from the root; modules of Node that they import, with the importer;
 *   bytes of the bundle
 */
export async function bundleForBrowser(name, code) {
  const start = join(root, 'packages', name, 'bundled-for-browsers.js');
  const builtins = new Set();
  let modules = [];
  const { output } = await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'graph',
        enforce: 'pre',
        resolveId(id, importer) {
          if (id === start) return start;
          if (!id.startsWith('node:') && !BUILTIN.has(id)) return undefined;
          builtins.add(`${id} in ${relative(root, importer ?? '')}`);
          return { id, external: true };
        },
        load: (id) => (id === start ? code : undefined),
        buildEnd() {
          modules = [...this.getModuleIds()].filter((id) => id !== start);
        },
      },
    ],
    resolve: { conditions: ['@saccade/source', 'module', 'browser', 'import'] },
    build: {
      write: false,
      target: 'es2023',
      minify: true,
      rolldownOptions: { input: start, preserveEntrySignatures: 'strict' },
    },
  });
  const text = output.map((file) => file.code ?? '').join('');
  return {
    modules: modules.map((id) => relative(root, id)).sort(),
    builtins: [...builtins].sort(),
    minified: Buffer.byteLength(text),
    gzipped: gzipSync(text, { level: 9 }).length,
  };
}

/** Everything that a package exports, so that nothing of it is left out. */
export const bundleWhole = (name) => bundleForBrowser(name, `export * from '@saccade/${name}';`);

/** `12.3 kB` */
export const formatKilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.length > 2 ? process.argv.slice(2) : BROWSER_PACKAGES;
  for (const name of names) {
    const { builtins, minified, gzipped } = await bundleWhole(name);
    console.log(`| ${name} | ${formatKilobytes(minified)} | ${formatKilobytes(gzipped)} |`);
    for (const builtin of builtins) console.log(`${name} imports ${builtin}`);
  }
}
