/**
 * The fields of every published package.json that say the same everywhere, so that npm shows each
 * package with its license, home and source, and packs only what users need.
 *
 *   node scripts/manifests.mjs                      says what differs
 *   node scripts/manifests.mjs --write              writes it
 *   node scripts/manifests.mjs --repository <url>   writes it for the repository at this address
 *
 * The address of the repository is one field, `repository` of the root's package.json. While it is
 * absent, no package has one, and no release can be made: provenance needs it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { isTest, listModules, listPackages } from './source-files.mjs';

/** The order of fields; others follow as they stand. */
const ORDER = [
  ...['name', 'version', 'description', 'keywords', 'license', 'homepage', 'bugs', 'repository'],
  ...['type', 'sideEffects', 'engines', 'bin', 'imports', 'exports', 'files', 'publishConfig'],
];
/** What the compiler leaves in dist for the clone alone. */
const LEFT_OUT = ['!dist/**/*.tsbuildinfo', '!dist/**/*.map', '!dist/**/*.fixture.*'];
const FEWEST_KEYWORDS = 3;

/** `git+https://…/name.git`, `https://…/name/` or `{ url }` → `https://…/name`. */
export function addressOf(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url?.replace(/^git\+/, '').replace(/(\.git)?\/?$/, '');
}

/** The fields that follow from the root's manifest and the package's folder. */
function expectedFields(root, { folder, manifest }) {
  const address = addressOf(root.repository);
  const own = (manifest.files ?? ['dist']).filter((pattern) => !LEFT_OUT.includes(pattern));
  return {
    license: root.license,
    homepage: address && `${address}/tree/main/${folder}#readme`,
    bugs: address && { url: `${address}/issues` },
    repository: address && { type: 'git', url: `git+${address}.git`, directory: folder },
    type: 'module',
    engines: root.engines,
    files: own.includes('dist') ? [...own, ...LEFT_OUT] : own,
    publishConfig: { access: 'public', provenance: true },
  };
}

/** What only a person can write, one sentence for each that is missing. */
function findMissing(root, { folder, manifest }) {
  const path = `${folder}/package.json`;
  const missing = [];
  if (!manifest.description) missing.push(`${path} has no description. Write one sentence.`);
  if (!manifest.exports) missing.push(`${path} has no exports. Name its entries.`);
  if ((manifest.keywords ?? []).length < FEWEST_KEYWORDS) {
    missing.push(`${path} has fewer than ${FEWEST_KEYWORDS} keywords. Add what people search for.`);
  }
  const readme = join(root, folder, 'README.md');
  const install = `npm install ${manifest.name}`;
  if (!existsSync(readme)) missing.push(`${folder} has no README.md. npm shows it as its page.`);
  else if (!readFileSync(readme, 'utf8').includes(install)) {
    missing.push(
      `${folder}/README.md does not say \`${install}\`. Put it below its first sentences.`,
    );
  }
  return [...missing, ...findUnnamedPeers(root, { folder, manifest })];
}

/** Optional peers that no message tells people to install, in the version that is declared. */
function findUnnamedPeers(root, { folder, manifest }) {
  const { peerDependencies, peerDependenciesMeta } = manifest;
  const optional = Object.entries(peerDependencies ?? {}).filter(
    ([name]) => peerDependenciesMeta?.[name]?.optional === true,
  );
  // The addon's build composes its message from the manifest.
  if (optional.length === 0 || folder === 'native') return [];
  const text = listModules(root, { folder })
    .filter((path) => !isTest(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  return optional
    .filter(([name, range]) => !text.includes(`${name}@${range}`))
    .map(
      ([name, range]) =>
        `${folder}/package.json has the optional peer ${name}, but no message of its code says ` +
        `${name}@${range}. Load it with importOptional of @saccade/core.`,
    );
}

function ordered(manifest) {
  const names = [...ORDER.filter((name) => name in manifest), ...Object.keys(manifest)];
  return Object.fromEntries(names.map((name) => [name, manifest[name]]));
}

/** Every package that npm gets. */
export function listPublished(root) {
  return listPackages(root).filter(({ manifest }) => manifest.private !== true && manifest.name);
}

/** Everything that is wrong with the manifests below `root`, one sentence each. */
export function checkManifests(root) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return listPublished(root).flatMap((entry) => {
    const path = `${entry.folder}/package.json`;
    const differing = Object.entries(expectedFields(own, entry))
      .filter(([name, value]) => !isDeepStrictEqual(entry.manifest[name], value))
      .map(
        ([name, value]) =>
          `${path}: ${name} is ${JSON.stringify(entry.manifest[name])}, expected ` +
          `${JSON.stringify(value)}. Run node scripts/manifests.mjs --write.`,
      );
    return [...differing, ...findMissing(root, entry)];
  });
}

/** Writes the fields that follow from the root's manifest. */
function writeManifests(root, repository) {
  const rootPath = join(root, 'package.json');
  const own = JSON.parse(readFileSync(rootPath, 'utf8'));
  if (repository !== undefined) {
    own.repository = { type: 'git', url: `git+${addressOf(repository)}.git` };
    writeFileSync(rootPath, `${JSON.stringify(own, null, 2)}\n`);
  }
  for (const entry of listPublished(root)) {
    const manifest = ordered({ ...entry.manifest, ...expectedFields(own, entry) });
    writeFileSync(
      join(root, entry.folder, 'package.json'),
      `${JSON.stringify(manifest, null, 2)}\n`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const [flag, repository] = process.argv.slice(2);
  if (flag !== undefined) writeManifests(root, repository);
  const problems = checkManifests(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
