/** `allowances.json`: what the checks let pass for now, each with its reason or its number. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const pathOf = (root) => join(root, 'scripts', 'allowances.json');

/**
 * - `cycles`: a file of an import cycle → why it stays
 * - `environment`: a file that reads the environment → why it must
 * - `undocumented`: a package → public exports without a doc comment, at most
 * - `unchecked`: a document whose code is not checked yet → why
 */
export function readAllowances(root) {
  return existsSync(pathOf(root)) ? JSON.parse(readFileSync(pathOf(root), 'utf8')) : {};
}

/** Writes them back, as the formatter wants it. */
export function writeAllowances(root, allowances) {
  writeFileSync(pathOf(root), `${JSON.stringify(allowances, null, 2)}\n`);
}
