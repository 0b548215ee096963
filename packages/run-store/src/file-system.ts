/**
 * The system calls a run store makes. Everything it writes goes through this interface, so that
 * tests can fail each call in turn and cut the power after any of them.
 */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

/** The result of `status` for a path. */
export interface FileStatus {
  readonly sizeBytes: number;
  readonly isDirectory: boolean;
}

/**
 * The system calls that a run store makes; `nodeFileSystem` is the real one. A call that fails
 * throws, with the `code` of the system error.
 */
export interface FileSystem {
  readFile(path: string): Buffer;
  /** Names in a directory, in no order. */
  readDirectory(path: string): readonly string[];
  /** Undefined if nothing is there. */
  status(path: string): FileStatus | undefined;
  /** `w` empties the file, `a` appends, `r` is for `sync` alone: it opens directories too. */
  open(path: string, flags: 'r' | 'w' | 'a'): number;
  /** May write fewer bytes than it was given, as the system call does. */
  write(file: number, bytes: Uint8Array): number;
  sync(file: number): void;
  truncate(file: number, sizeBytes: number): void;
  close(file: number): void;
  /** Replaces what is at `to`. */
  rename(from: string, to: string): void;
  /** Gives a file a second name; fails if the name is taken. */
  link(from: string, to: string): void;
  /** One level. */
  makeDirectory(path: string): void;
  removeFile(path: string): void;
  /** An empty one. */
  removeDirectory(path: string): void;
}

/** The file system of this machine. */
export const nodeFileSystem: FileSystem = {
  readFile: (path) => readFileSync(path),
  readDirectory: (path) => readdirSync(path),
  status(path) {
    try {
      const found = statSync(path);
      return { sizeBytes: found.size, isDirectory: found.isDirectory() };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
  },
  open: (path, flags) => openSync(path, flags),
  write: (file, bytes) => writeSync(file, bytes),
  sync: (file) => fsyncSync(file),
  truncate: (file, sizeBytes) => ftruncateSync(file, sizeBytes),
  close: (file) => closeSync(file),
  rename: (from, to) => renameSync(from, to),
  link: (from, to) => linkSync(from, to),
  makeDirectory: (path) => mkdirSync(path),
  removeFile: (path) => unlinkSync(path),
  removeDirectory: (path) => rmdirSync(path),
};

/** Options of everything that touches the disk. */
export interface FileSystemOption {
  /** Default: that of this machine. */
  readonly fileSystem?: FileSystem;
}
