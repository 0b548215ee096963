// Reads /proc: the tree of processes below one, what they hold, whether one is still itself.
import { readdirSync, readFileSync } from 'node:fs';

/** State, parent, start and resident bytes of a process; undefined if it is gone. */
function look(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    if (fields[0] === 'Z') return undefined;
    return { pid, name, parent: Number(fields[1]), start: fields[19], pages: Number(fields[21]) };
  } catch {
    return undefined;
  }
}

/** The living processes below `root`, itself included. */
export function treeOf(root) {
  const children = new Map();
  for (const entry of readdirSync('/proc')) {
    const found = /^\d+$/.test(entry) ? look(Number(entry)) : undefined;
    if (found === undefined) continue;
    const siblings = children.get(found.parent) ?? [];
    siblings.push(found);
    children.set(found.parent, siblings);
  }
  const first = look(root);
  const tree = first === undefined ? [] : [first];
  for (const process of tree) tree.push(...(children.get(process.pid) ?? []));
  return tree;
}

export const isSame = ({ pid, start }) => look(pid)?.start === start;

export const rssOf = (pid) => (look(pid)?.pages ?? 0) * 4096;

export function descriptorsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
