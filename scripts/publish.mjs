/**
 * Publishes the packages in the order in which they need each other; those that npm has are passed
 * over, so that a release which broke off can go on.
 *
 *   node scripts/publish.mjs --dry-run   packs and checks everything, sends nothing
 *   node scripts/publish.mjs             from the workflow of a release alone
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PackError, stagePackages } from './pack.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isDryRun = process.argv.includes('--dry-run');

function npm(args) {
  return spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
}

/** Whether npm has this version. @throws PackError if it cannot say */
function isPublished({ name, version }) {
  const { status, stdout, stderr } = npm(['view', `${name}@${version}`, 'version', '--json']);
  if (status === 0) return stdout.trim() !== '';
  if (`${stdout}${stderr}`.includes('E404')) return false;
  throw new PackError(`npm view ${name}@${version} failed: ${stderr}`);
}

function publish({ name, version, folder }) {
  // Provenance is a statement of the workflow that publishes; outside there is none.
  const flags = isDryRun ? ['--dry-run', '--provenance=false'] : [];
  const { status, stdout, stderr } = npm(['publish', folder, '--access', 'public', ...flags]);
  if (status !== 0) throw new PackError(`${name}@${version} was refused:\n${stdout}${stderr}`);
  console.log(`${isDryRun ? 'would publish' : 'published'} ${name}@${version}`);
}

try {
  for (const own of await stagePackages(root, { isRelease: !isDryRun })) {
    if (!isDryRun && isPublished(own)) console.log(`npm has ${own.name}@${own.version}`);
    else publish(own);
  }
} catch (error) {
  if (!(error instanceof PackError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
