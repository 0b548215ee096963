/**
 * What somebody new does: an empty folder for each program of examples/packages, the packages it
 * needs from tarballs, compile, run. Says the commands and how long all of it took.
 *
 *   npm run pack-programs                 all six, and their types under several TypeScripts
 *   npm run pack-programs -- losses page  some of them
 *   npm run pack-programs -- --keep       keeps the folders
 *
 * After `node native/prebuild.mjs`. Everything else comes from the npm registry and pip's index.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformOf } from '../native/index.js';
import { findChromium, WEBGPU_FLAGS } from './chromium.mjs';
import { installedBytes } from './installed-size.mjs';
import { expectPrebuilt, packSpecs, runCommand, startProject } from './packed-project.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'examples', 'packages');

/** Programs of examples/packages/src, what each installs, and what its last line says. */
const PROGRAMS = {
  losses: { packages: ['@saccade/algorithms'], says: /^tapo: loss \S+, gradient norm \S+$/m },
  attention: {
    packages: ['@saccade/attention', '@saccade/backend-native', '@saccade/ops'],
    says: /^40 tokens, out and 3 gradients: at most \S+ from float64$/m,
  },
  logprobs: {
    packages: ['@saccade/logprob', '@saccade/backend-native', '@saccade/ops'],
    says: /^gradient of the hidden states: norm \S+$/m,
  },
  rewards: {
    packages: ['@saccade/rewards', '@saccade/trajectory'],
    says: /^1\.1 .*\n1 .*\n0 /m,
  },
  sandbox: { packages: ['@saccade/sandbox'], says: /^ok: \(56, 56\), 1 image\nexception: /m },
  page: {
    packages: ['@saccade/attention', '@saccade/backend-webgpu', '@saccade/ops', 'vite@8'],
    // The last digits of a float32 are those of the adapter.
    says: /^out 1,2, gradient of v 1\.(?:5|49{5})\d*,0\.(?:5|49{5})\d* on /m,
  },
};
/** Oldest and newest compilers that are promised, and the one between that most have. */
const TYPESCRIPTS = ['5.4', '5.9', '7'];
const RESOLUTIONS = { nodenext: 'nodenext', esnext: 'bundler' };
const MOST_SECONDS = 120;

const optionsOf = (module, program) => ({
  compilerOptions: {
    ...{ target: 'es2022', lib: ['es2023', 'dom'], strict: true, noUncheckedIndexedAccess: true },
    ...{ exactOptionalPropertyTypes: true, module, moduleResolution: RESOLUTIONS[module] },
    ...{ types: program === 'page' ? [] : ['node'], rootDir: 'src', outDir: 'dist' },
  },
  files: [`src/${program}.ts`],
});

/** Runs a bundled page from a server of its own; the text that it shows. */
async function showPage(folder) {
  const { chromium } = createRequire(join(root, 'examples/algorithms/package.json'))(
    'playwright-core',
  );
  const port = 20_000 + (process.pid % 20_000);
  const vite = join(folder, 'node_modules', '.bin', 'vite');
  const server = spawn(vite, ['preview', '--port', String(port), '--strictPort'], { cwd: folder });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    server.stdout.on('data', (chunk) => {
      said += chunk;
      if (said.includes(String(port))) resolve(`http://localhost:${port}/`);
    });
    server.on('exit', () => reject(new Error(`vite preview ended: ${said}`)));
  });
  const args = ['--no-sandbox', ...WEBGPU_FLAGS];
  const browser = await chromium.launch({ executablePath: findChromium(), args });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction("document.body.textContent.trim() !== ''", null, {
      timeout: 60_000,
    });
    return await page.textContent('body');
  } finally {
    await browser.close();
    server.removeAllListeners('exit');
    server.kill();
  }
}

/** One program from an empty folder: its commands, and how long each took. */
async function tryProgram(name, { packages, says }, specs, work) {
  const folder = join(work, name);
  const commands = [];
  const env = { ...process.env, TMPDIR: join(work, 'tmp') };
  const timed = async (shown, step) => {
    const start = performance.now();
    const result = await step();
    commands.push([shown, (performance.now() - start) / 1000]);
    return result;
  };
  const tools = ['typescript@7', ...(name === 'page' ? [] : ['@types/node@20'])];
  const all = [...packages, ...tools];
  await timed(`npm install ${all.join(' ')}`, () => {
    startProject(folder, all, specs);
    runCommand(folder, 'npm', ['install', '--no-audit', '--no-fund'], { env });
  });
  mkdirSync(join(folder, 'src'));
  copyFileSync(join(source, 'src', `${name}.ts`), join(folder, 'src', `${name}.ts`));
  const module = name === 'page' ? 'esnext' : 'nodenext';
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(optionsOf(module, name)));
  const output = await timed(name === 'page' ? 'npx tsc && npx vite build' : 'npx tsc', () =>
    runCommand(folder, 'npx', ['tsc'], { env }),
  ).then(() => {
    if (name !== 'page') {
      const run = () => runCommand(folder, process.execPath, [`dist/${name}.js`], { env });
      return timed(`node dist/${name}.js`, run);
    }
    copyFileSync(join(source, 'index.html'), join(folder, 'index.html'));
    return timed('npx vite build, npx vite preview, a browser', () => {
      runCommand(folder, 'npx', ['vite', 'build'], { env });
      return showPage(folder);
    });
  });
  if (!says.test(output)) throw new Error(`${name} said:\n${output}`);
  return { folder, commands, output };
}

/** What the compilers say of a program, where they complain. */
function checkTypes(name, folder, compilers) {
  return TYPESCRIPTS.flatMap((version) =>
    Object.keys(RESOLUTIONS).flatMap((module) => {
      const config = join(folder, `tsconfig.${module}.json`);
      writeFileSync(config, JSON.stringify({ ...optionsOf(module, name), include: [] }));
      const tsc = join(compilers, 'node_modules', `typescript-${version}`, 'bin', 'tsc');
      try {
        runCommand(folder, process.execPath, [tsc, '-p', config, '--noEmit']);
        return [];
      } catch (error) {
        return [`${name}: TypeScript ${version}, ${RESOLUTIONS[module]}: ${error.message}`];
      }
    }),
  );
}

function installCompilers(work) {
  const folder = join(work, 'compilers');
  const compilers = TYPESCRIPTS.map((version) => [
    `typescript-${version}`,
    `npm:typescript@${version}`,
  ]);
  mkdirSync(folder);
  const manifest = { private: true, dependencies: Object.fromEntries(compilers) };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  runCommand(folder, 'npm', ['install', '--no-audit', '--no-fund']);
  return folder;
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const strange = asked.find((name) => PROGRAMS[name] === undefined);
if (strange !== undefined) {
  throw new Error(`There is no program ${strange}. Known: ${Object.keys(PROGRAMS).join(', ')}.`);
}
expectPrebuilt(root, platformOf());
const work = mkdtempSync(join(tmpdir(), 'saccade-programs-'));
mkdirSync(join(work, 'tmp'));
const problems = [];
try {
  const specs = await packSpecs(root);
  const compilers = installCompilers(work);
  for (const name of asked.length > 0 ? asked : Object.keys(PROGRAMS)) {
    const program = PROGRAMS[name];
    try {
      const { folder, commands, output } = await tryProgram(name, program, specs, work);
      const total = commands.reduce((sum, [, seconds]) => sum + seconds, 0);
      const lines = readFileSync(join(source, 'src', `${name}.ts`), 'utf8').split('\n').length - 1;
      const megabytes = program.packages
        .filter((one) => specs[one] !== undefined)
        .map((one) => installedBytes(join(folder, 'node_modules', one)) / 1e6);
      console.log(
        `\n${name}: ${total.toFixed(1)} s, ${commands.length} commands, ${lines} lines, at most ` +
          `${Math.max(...megabytes).toFixed(1)} MB for a package`,
      );
      for (const [command, seconds] of commands) {
        console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${command}`);
      }
      console.log(output.trim().replaceAll(/^/gm, '  > '));
      if (total > MOST_SECONDS) problems.push(`${name} took ${total.toFixed(0)} s.`);
      problems.push(...checkTypes(name, folder, compilers));
    } catch (error) {
      problems.push(`${name}: ${error.message}`);
    }
  }
} finally {
  if (process.argv.includes('--keep')) console.error(`See ${work}`);
  else rmSync(work, { recursive: true });
}
for (const problem of problems) console.error(problem);
console.log(`\nfirst-programs: TypeScript ${TYPESCRIPTS.join(', ')}; ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
