/**
 * A file system in memory that can fail its n-th call, and lose power: then only what was flushed is
 * left, and of the rest as much as a disk may have written by itself.
 */
import type { FileSystem } from './file-system.ts';

interface FileNode {
  readonly kind: 'file';
  content: Buffer;
  /** On the disk. */
  durable: Buffer;
}

interface DirectoryNode {
  readonly kind: 'directory';
  readonly entries: Map<string, Node>;
  durable: Map<string, Node>;
}

type Node = FileNode | DirectoryNode;

/** The unflushed data that a power loss destroys: all, nothing, or parts by a coin; true keeps. */
export type Loss = 'all' | 'nothing' | (() => boolean);

function errno(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

function directory(): DirectoryNode {
  return { kind: 'directory', entries: new Map(), durable: new Map() };
}

/** Thrown by the call at which the power goes: nothing after it happens either. */
export class PowerLoss extends Error {}

export interface Plan {
  /** Number of the call that goes wrong, from 0. */
  readonly at: number;
  /** `EIO`, `ENOSPC` once; or the power goes before or in the middle of the call. */
  readonly fault: 'EIO' | 'ENOSPC' | 'power';
}

export class MemoryFileSystem implements FileSystem {
  /** Calls that change something, so far. */
  calls = 0;
  /** Name of each. */
  readonly trace: string[] = [];
  #plan: Plan | undefined;
  #isDead = false;
  #next = 3;
  readonly #root: DirectoryNode;
  readonly #open = new Map<number, Node>();

  constructor(plan?: Plan, root: DirectoryNode = directory()) {
    this.#plan = plan;
    this.#root = root;
  }

  /** The disk after the power has come back. */
  afterPowerLoss(loss: Loss): MemoryFileSystem {
    const keeps = typeof loss === 'function' ? loss : () => loss === 'nothing';
    const settled = new Map<Node, Node>();
    const settle = (node: Node): Node => {
      const known = settled.get(node);
      if (known !== undefined) return known;
      if (node.kind === 'file') {
        const content = keeps() ? node.content : node.durable;
        const file: FileNode = { kind: 'file', content, durable: content };
        settled.set(node, file);
        return file;
      }
      const made = directory();
      settled.set(node, made);
      for (const name of new Set([...node.durable.keys(), ...node.entries.keys()])) {
        const [before, after] = [node.durable.get(name), node.entries.get(name)];
        const found = before === after || keeps() ? after : before;
        if (found !== undefined) made.entries.set(name, settle(found));
      }
      made.durable = new Map(made.entries);
      return made;
    };
    return new MemoryFileSystem(undefined, settle(this.#root) as DirectoryNode);
  }

  /** The same disk for another process, with nothing lost. */
  afterCrash(): MemoryFileSystem {
    return new MemoryFileSystem(undefined, this.#root);
  }

  readFile(path: string): Buffer {
    const node = this.#find(path);
    if (node === undefined) throw errno('ENOENT', path);
    if (node.kind === 'directory') throw errno('EISDIR', path);
    return Buffer.from(node.content);
  }

  readDirectory(path: string): readonly string[] {
    return [...this.#directory(path).entries.keys()];
  }

  status(path: string) {
    const node = this.#find(path);
    if (node === undefined) return undefined;
    const isDirectory = node.kind === 'directory';
    return { sizeBytes: node.kind === 'file' ? node.content.length : 0, isDirectory };
  }

  open(path: string, flags: 'r' | 'w' | 'a'): number {
    let node = this.#find(path);
    if (flags !== 'r') {
      this.#call(`open ${path}`);
      if (node?.kind === 'directory') throw errno('EISDIR', path);
      if (node === undefined) {
        node = { kind: 'file', content: Buffer.alloc(0), durable: Buffer.alloc(0) };
        const [parent, name] = this.#parentOf(path);
        parent.entries.set(name, node);
      }
      if (flags === 'w') node.content = Buffer.alloc(0);
    }
    if (node === undefined) throw errno('ENOENT', path);
    this.#open.set(this.#next, node);
    return this.#next++;
  }

  /** Takes at most 64 bytes at a time, so that the writer must continue. */
  write(file: number, bytes: Uint8Array): number {
    const node = this.#file(file);
    const half = bytes.subarray(0, Math.ceil(Math.min(64, bytes.length) / 2));
    try {
      this.#call('write');
    } catch (error) {
      // Cut in the middle: a part of it is there.
      node.content = Buffer.concat([node.content, half]);
      throw error;
    }
    const taken = bytes.subarray(0, 64);
    node.content = Buffer.concat([node.content, taken]);
    return taken.length;
  }

  sync(file: number): void {
    this.#call('fsync');
    const node = this.#open.get(file);
    if (node === undefined) throw errno('EBADF', String(file));
    if (node.kind === 'file') node.durable = node.content;
    else node.durable = new Map(node.entries);
  }

  truncate(file: number, sizeBytes: number): void {
    this.#call('truncate');
    const node = this.#file(file);
    node.content = node.content.subarray(0, sizeBytes);
  }

  close(file: number): void {
    this.#open.delete(file);
  }

  rename(from: string, to: string): void {
    this.#call(`rename ${from} ${to}`);
    const node = this.#find(from);
    if (node === undefined) throw errno('ENOENT', from);
    const [source, sourceName] = this.#parentOf(from);
    const [target, targetName] = this.#parentOf(to);
    const there = target.entries.get(targetName);
    if (there?.kind === 'directory' && there.entries.size > 0) throw errno('ENOTEMPTY', to);
    source.entries.delete(sourceName);
    target.entries.set(targetName, node);
  }

  link(from: string, to: string): void {
    this.#call(`link ${to}`);
    const node = this.#find(from);
    if (node === undefined) throw errno('ENOENT', from);
    const [parent, name] = this.#parentOf(to);
    if (parent.entries.has(name)) throw errno('EEXIST', to);
    parent.entries.set(name, node);
  }

  makeDirectory(path: string): void {
    this.#call(`mkdir ${path}`);
    const [parent, name] = this.#parentOf(path);
    if (parent.entries.has(name)) throw errno('EEXIST', path);
    parent.entries.set(name, directory());
  }

  removeFile(path: string): void {
    this.#call(`unlink ${path}`);
    const [parent, name] = this.#parentOf(path);
    if (!parent.entries.delete(name)) throw errno('ENOENT', path);
  }

  removeDirectory(path: string): void {
    this.#call(`rmdir ${path}`);
    if (this.#directory(path).entries.size > 0) throw errno('ENOTEMPTY', path);
    const [parent, name] = this.#parentOf(path);
    parent.entries.delete(name);
  }

  #call(name: string): void {
    if (this.#isDead) throw new PowerLoss('the power is gone');
    this.trace.push(name);
    const plan = this.#plan;
    if (plan === undefined || this.calls++ !== plan.at) return;
    if (plan.fault !== 'power') throw errno(plan.fault, name);
    this.#isDead = true;
    throw new PowerLoss(`the power goes at ${name}`);
  }

  #file(file: number): FileNode {
    const node = this.#open.get(file);
    if (node?.kind !== 'file') throw errno('EBADF', String(file));
    return node;
  }

  #directory(path: string): DirectoryNode {
    const node = this.#find(path);
    if (node === undefined) throw errno('ENOENT', path);
    if (node.kind === 'file') throw errno('ENOTDIR', path);
    return node;
  }

  #parentOf(path: string): readonly [DirectoryNode, string] {
    const at = path.lastIndexOf('/');
    return [this.#directory(path.slice(0, at) || '/'), path.slice(at + 1)];
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of path.split('/').filter(Boolean)) {
      if (node?.kind !== 'directory') return undefined;
      node = node.entries.get(name);
    }
    return node;
  }
}
