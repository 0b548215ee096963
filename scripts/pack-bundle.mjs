/**
 * Bundles compiled modules and their declarations at packing time: zod's part that settings need,
 * and the packages whose hundreds of small files would take more of a disk than their content.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** What published packages import in the place of zod. */
export const ZOD_PACKAGE = '@saccade/zod';

/** Everything of another package stays an import. */
const isForeign = (id) => !/^[./]/.test(id);

/** Comments that name the files of a bundle, by paths of this machine. */
const REGIONS = /^\/\/(#region|#endregion)?( \S+\.(d\.ts|js))?\n/gm;

/** Whitespace goes; names, and the marks of calls without effects, stay for other bundlers. */
const COMPACT = { mangle: false, compress: false, codegen: { removeWhitespace: true } };

/**
 * Code that imports zod, importing Saccade's part of it instead. A namespace import lets bundlers
 * leave out what is not used.
 */
export function withOwnZod(code) {
  return code
    .replace(/import (type )?\{ z \} from (['"])zod\2/g, `import $1* as z from $2${ZOD_PACKAGE}$2`)
    .replaceAll('import("zod/v4/core")', `import("${ZOD_PACKAGE}").core`)
    .replaceAll('import("zod")', `import("${ZOD_PACKAGE}")`);
}

/** How long plugins take is nobody's business. */
const QUIET = { checks: { pluginTimings: false } };

/** Bundles entries, by their names, of modules (`.js`) or declarations (`.d.ts`); their code. */
async function bundle(input, { plugins = [], ...options }) {
  const isTyped = Object.values(input).every((path) => path.endsWith('.d.ts'));
  const typed = isTyped ? dts({ dtsInput: true, tsconfig: false, resolver: 'oxc' }) : [];
  const built = await rolldown({ input, external: isForeign, plugins: [plugins, typed], ...QUIET });
  const chunkFileNames = isTyped ? 'shared-[hash].d.ts' : 'shared-[hash].js';
  const { output } = await built.generate({ format: 'esm', chunkFileNames, ...options });
  await built.close();
  // Where declarations alone are bundled, the runtime of modules is left over, and nothing imports it.
  const files = output.filter(
    ({ fileName, isEntry }) =>
      isEntry ||
      output.some(({ code }) => code.includes(fileName.replace(/(\.d)?\.[jt]s$/, '.js'))),
  );
  return files.map(({ fileName, code }) => [
    fileName,
    // A comment that silences the line after it has to stay on a line of its own.
    code.replace(REGIONS, '').replace(/(\/\*\* @ts-ignore[^*]*\*\/) ?/g, '\n$1\n'),
  ]);
}

/** Replaces `dist` of a staged package by one file for each entry, and what entries share. */
export async function bundleDist(folder, manifest) {
  const dist = join(folder, 'dist');
  const entries = Object.values(manifest.exports).filter((entry) => typeof entry === 'object');
  const written = [];
  for (const kind of ['default', 'types']) {
    const extension = kind === 'types' ? /\.d\.ts$/ : /\.js$/;
    const input = entries.map((entry) => join(folder, entry[kind]));
    const named = input.map((path) => [relative(dist, path).replace(extension, ''), path]);
    written.push(...(await bundle(Object.fromEntries(named), {})));
  }
  rmSync(dist, { recursive: true });
  for (const [name, code] of written) {
    mkdirSync(dirname(join(dist, name)), { recursive: true });
    writeFileSync(join(dist, name), code);
  }
}

/** English messages alone: the others are most of zod. */
const englishAlone = {
  name: 'english-alone',
  load: (id) =>
    /\/zod\/v4\/locales\/index(\.d\.ts|\.js)$/.test(id)
      ? "export { default as en } from './en.js';"
      : undefined,
};

/**
 * Writes the folder of `@saccade/zod`: zod as ES modules with English messages, a tenth of the whole.
 *
 * @param native the manifest of a package, for the fields that all share
 */
export async function stageZod(root, native, target) {
  const resolve = createRequire(join(root, 'packages', 'core', 'package.json')).resolve;
  const source = dirname(resolve('zod/package.json'));
  const zod = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const entry = join(source, 'v4', 'classic', 'external');
  mkdirSync(join(target, 'dist'), { recursive: true });
  for (const extension of ['js', 'd.ts']) {
    const options = { plugins: [englishAlone], ...(extension === 'js' && { minify: COMPACT }) };
    const files = await bundle({ index: `${entry}.${extension}` }, options);
    for (const [name, code] of files) writeFileSync(join(target, 'dist', name), code);
  }
  const { version, license, engines, repository, homepage, bugs, publishConfig } = native;
  const manifest = {
    name: ZOD_PACKAGE,
    version,
    description: `The part of zod ${zod.version} that Saccade's settings use.`,
    keywords: ['zod', 'settings', 'schema'],
    license,
    ...(homepage && { homepage }),
    ...(bugs && { bugs }),
    ...(repository && { repository }),
    type: 'module',
    sideEffects: false,
    engines,
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    publishConfig,
  };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(
    join(target, 'README.md'),
    `# ${ZOD_PACKAGE}\n\n[zod](https://www.npmjs.com/package/zod) ${zod.version} by Colin McDonnell, ` +
      'as ES modules with English messages: a tenth of the files of the whole. Saccade’s packages ' +
      'use it for their settings; schemas of zod itself work beside it. Nothing needs to name it.\n',
  );
  // The license of its author, whose work it is.
  writeFileSync(join(target, 'LICENSE'), readFileSync(join(source, 'LICENSE')));
  if (!existsSync(join(target, 'dist', 'index.d.ts'))) throw new Error('zod has no declarations.');
}
