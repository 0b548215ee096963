/** The files of this machine that a guest has: the interpreter, the libraries it loads, a shell. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchPlan } from '../../isolation.ts';
import { findCommand, runForText } from '../../python-interpreter.ts';
import { readablePaths, systemFolders } from '../libraries.ts';

/** Programs that code may start; nothing else of `/usr/bin` is there. */
const tools = ['sh', 'env', 'true', 'false', 'cat', 'ls', 'sleep', 'uname'];
/** More names than a command line takes are asked for in several. */
const filesPerCall = 500;

export interface GuestFiles {
  /** Folders and links, copied as they are, with all that is in them. */
  readonly trees: readonly string[];
  /** Files, copied as what they point to. */
  readonly files: readonly string[];
}

export async function guestFiles(plan: LaunchPlan): Promise<GuestFiles> {
  const trees = [...readablePaths(plan), ...systemTrees(plan)];
  const programs = tools.flatMap((name) => findCommand(name) ?? []);
  const found = [plan.interpreter.python, ...programs];
  for (const tree of trees) found.push(...(await sharedLibraries(tree)));
  const files = await librariesOf(found);
  const isCovered = (path: string): boolean =>
    trees.some((tree) => path === tree || path.startsWith(`${tree}/`));
  const all = [...programs, ...files].filter((path) => !isCovered(path)).map(resolveSystem);
  return { trees, files: [...new Set(all)] };
}

/** An interpreter of the system's own is spread over `/usr`. */
function systemTrees({ interpreter }: LaunchPlan): string[] {
  if (!interpreter.directories.some((path) => path === '/usr' || path.startsWith('/usr/'))) {
    return [];
  }
  const [major, minor] = interpreter.version.split('.');
  const name = `python${major}.${minor}`;
  const places = ['/usr/lib/python3', `/usr/lib/${name}`, `/usr/local/lib/${name}`];
  const programs = [`/usr/bin/${name}`, '/usr/bin/python3', `/usr/local/bin/${name}`];
  return [...places, ...programs].filter((path) => existsSync(path));
}

async function sharedLibraries(tree: string): Promise<string[]> {
  const entries = await readdir(tree, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.so(\.|$)/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** All that the loader would map for these programs and libraries, by the loader's own word. */
export async function librariesOf(files: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (let start = 0; start < files.length; start += filesPerCall) {
    const text = await runForText('/bin/sh', [
      ...['-c', 'ldd "$@" 2>/dev/null; exit 0', 'sh'],
      ...files.slice(start, start + filesPerCall),
    ]);
    for (const [, path] of text.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)) {
      if (path !== undefined) found.add(path);
    }
  }
  return [...found];
}

/** `/lib/x` is `/usr/lib/x` where `/lib` is a link. */
export function resolveSystem(path: string): string {
  for (const { path: folder, link } of systemFolders()) {
    if (link !== undefined && path.startsWith(`${folder}/`)) {
      return join('/', link, path.slice(folder.length));
    }
  }
  return path;
}
