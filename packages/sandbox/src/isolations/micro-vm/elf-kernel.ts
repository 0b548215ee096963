/** The kernel as Firecracker takes it: the plain program (ELF) that is packed in a boot image. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { MissingError, messageOf, UnsupportedError } from '@saccade/core';
import { findCommand } from '../../python-interpreter.ts';

/** From Linux's `Documentation/arch/x86/boot.rst`. */
const setupSectors = 0x1f1;
const signature = { offset: 0x202, text: 'HdrS' };
const payload = { offset: 0x248, length: 0x24c };
const sectorBytes = 512;

const elf = Buffer.from('\x7fELF', 'latin1');
/** How each format of `CONFIG_KERNEL_*` begins, and what unpacks it. */
const formats = [
  { start: '1f8b', command: 'gzip', args: ['-dc'] },
  { start: 'fd377a585a00', command: 'xz', args: ['-dc'] },
  { start: '28b52ffd', command: 'zstd', args: ['-dc'] },
  { start: '02214c18', command: 'lz4', args: ['-dc'] },
  { start: '425a68', command: 'bzip2', args: ['-dc'] },
  { start: '5d0000', command: 'xz', args: ['--format=lzma', '-dc'] },
  { start: '894c5a4f', command: 'lzop', args: ['-dc'] },
] as const;

/**
 * Writes the kernel in the boot image `image` to `file`, unless it is there.
 *
 * @throws UnsupportedError if `image` is no boot image
 * @throws MissingError if what unpacks it is not installed
 */
export async function unpackKernel(image: string, file: string): Promise<string> {
  if (existsSync(file)) return file;
  const kernel = await plainKernel(await readFile(image), image);
  const draft = `${file}.${process.pid}`;
  try {
    // A jailed Firecracker is a user of its own.
    await writeFile(draft, kernel, { mode: 0o644 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return file;
}

export async function plainKernel(image: Buffer, name: string): Promise<Buffer> {
  if (image.subarray(0, elf.length).equals(elf)) return image;
  const found = image.toString('latin1', signature.offset, signature.offset + 4);
  if (image.length < payload.length + 4 || found !== signature.text) {
    throw new UnsupportedError(`${name} is no kernel for x64 with a boot header. Use another one.`);
  }
  // Without a number it means four.
  const sectors = (image[setupSectors] || 4) + 1;
  const start = sectors * sectorBytes + image.readUInt32LE(payload.offset);
  const packed = image.subarray(start, start + image.readUInt32LE(payload.length));
  const head = packed.toString('hex', 0, 8);
  if (packed.subarray(0, elf.length).equals(elf)) return packed;
  const format = formats.find((one) => head.startsWith(one.start));
  if (format === undefined) {
    throw new UnsupportedError(
      `${name} is packed in a way that is not known (${head}). Use another kernel.`,
    );
  }
  const command = findCommand(format.command);
  if (command === undefined) {
    throw new MissingError(
      `\`${format.command}\` is not on the PATH; it unpacks the kernel ${name}. Install it.`,
    );
  }
  const kernel = await unpack(command, format.args, packed);
  if (kernel.subarray(0, elf.length).equals(elf)) return kernel;
  throw new UnsupportedError(`${name} has no kernel in it that \`${command}\` unpacks.`);
}

/** Its status says nothing: after the packed bytes lie four with their number, which it does not know. */
async function unpack(command: string, args: readonly string[], packed: Buffer): Promise<Buffer> {
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'ignore'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stdin.on('error', () => {}); // it ends before it has read the rest
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', (error) => {
      reject(new MissingError(`\`${command}\` does not start: ${messageOf(error)}.`));
    });
    child.on('close', () => resolve());
  });
  child.stdin.end(packed);
  await ended;
  return Buffer.concat(pieces);
}
