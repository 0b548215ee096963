/** File names that rows give: they stay inside the data set's folder. */
import { isAbsolute, join, normalize, sep } from 'node:path';

/** Whether a name that a file gives leaves the folder it is relative to. */
export function leavesFolder(name: string): boolean {
  if (isAbsolute(name) || /^[A-Za-z]:[\\/]/.test(name) || name.includes('\0')) return true;
  const path = normalize(name.replaceAll('\\', '/'));
  return path === '..' || path.startsWith(`..${sep}`);
}

/** The path of a name inside a folder; undefined if it leaves it. */
export function pathInside(root: string, name: string): string | undefined {
  return leavesFolder(name) ? undefined : join(root, name);
}
