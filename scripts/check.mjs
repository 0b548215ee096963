/**
 * All checks besides the tests: how packages and files hang together, catalogs, format and lint,
 * unused exports, doc comments, types (tests included), and the code that documents show.
 *
 *   npm run check
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkAlgorithmCatalog } from './algorithm-catalog.mjs';
import { checkCatalogs } from './check-catalogs.mjs';
import { checkConstants } from './check-constants.mjs';
import { checkContributing } from './check-contributing.mjs';
import { checkCycles } from './check-cycles.mjs';
import { checkDocuments } from './check-documents.mjs';
import { checkEnvironment } from './check-environment.mjs';
import { checkExports } from './check-exports.mjs';
import { checkLayers } from './check-layers.mjs';
import { checkManifests } from './manifests.mjs';
import { checkMetricsPage } from './metrics-catalog.mjs';
import { checkReferences } from './references.mjs';
import { checkSettingsPage } from './settings-catalog.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a tool of node_modules; gives what it said if it failed. */
function tool(name, ...args) {
  const command = join(root, 'node_modules', '.bin', name);
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
  });
  if (error) return [`${name} cannot be run: ${error.message}. Run node scripts/setup.mjs first.`];
  return status === 0 ? [] : [`${stdout}${stderr}`.trimEnd()];
}

const checks = [
  ['layers', () => checkLayers(root)],
  ['manifests', () => checkManifests(root)],
  ['import cycles', () => checkCycles(root)],
  ['tsconfig references', () => checkReferences(root)],
  ['environment variables', () => checkEnvironment(root)],
  ['doc comments', () => checkExports(root)],
  ['CONTRIBUTING.md', () => checkContributing(root)],
  ['catalogs', () => checkCatalogs(root)],
  ['format and lint', () => tool('biome', 'check', '--error-on-warnings', '.')],
  ['unused exports', () => tool('knip', '--include', 'files,exports,types', '--no-config-hints')],
  ['types', () => tool('tsc', '-b', '--checkers', '1')],
  ['types of tests', () => tool('tsc', '-p', 'tsconfig.tests.json', '--checkers', '1')],
  // Reads what the step before compiled.
  ['docs/catalog.md', () => checkAlgorithmCatalog(root)],
  ['docs/metrics.md', () => checkMetricsPage(root)],
  ['code in documents', () => checkDocuments(root)],
  ['docs/settings.md', () => checkSettingsPage(root)],
  ['numbers that nobody can set', () => checkConstants(root)],
];

let failures = 0;
for (const [name, check] of checks) {
  const problems = await check();
  if (problems.length === 0) {
    console.log(`check: ${name}`);
    continue;
  }
  failures++;
  console.error(`check: ${name} FAILED\n${problems.join('\n')}\n`);
}
process.exitCode = failures > 0 ? 1 : 0;
