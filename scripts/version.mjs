/**
 * Sets the versions of a release: changesets become one version of all packages and a section of
 * CHANGELOG.md.
 *
 *   npm run version
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SIZES = ['major', 'minor', 'patch'];

/** A changeset: the size of the largest change that it names, and its text. */
export function parseChangeset(text) {
  const [, head = '', summary = ''] = /^---\n([\s\S]*?)---\n([\s\S]*)$/.exec(text) ?? [];
  const size = SIZES.find((name) => new RegExp(`: ${name}$`, 'm').test(head)) ?? 'patch';
  return { size, summary: summary.trim() };
}

/** CHANGELOG.md with a section for a version, the largest changes first. */
export function withSection(changelog, version, changes) {
  const ordered = [...changes].sort((a, b) => SIZES.indexOf(a.size) - SIZES.indexOf(b.size));
  const lines = ordered.map(({ summary }) => `- ${summary.replaceAll('\n', '\n  ')}`);
  const at = changelog.search(/^## /m);
  const [before, after] =
    at < 0 ? [changelog.trimEnd(), ''] : [changelog.slice(0, at).trimEnd(), changelog.slice(at)];
  return `${before}\n\n## ${version}\n\n${lines.join('\n')}\n${after && `\n${after}`}`;
}

function setVersions(root) {
  const folder = join(root, '.changeset');
  const changes = readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => parseChangeset(readFileSync(join(folder, name), 'utf8')));
  if (changes.length === 0) return 'there is no changeset, so nothing has changed';
  const command = join(root, 'node_modules', '.bin', 'changeset');
  const { status } = spawnSync(command, ['version'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('changeset version failed; its output says why');
  const core = readFileSync(join(root, 'packages', 'core', 'package.json'), 'utf8');
  const { version } = JSON.parse(core);
  const path = join(root, 'package.json');
  const manifest = { ...JSON.parse(readFileSync(path, 'utf8')), version };
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  const changelog = join(root, 'CHANGELOG.md');
  writeFileSync(changelog, withSection(readFileSync(changelog, 'utf8'), version, changes));
  return `version ${version}, ${changes.length} changes`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`version: ${setVersions(dirname(dirname(fileURLToPath(import.meta.url))))}`);
}
