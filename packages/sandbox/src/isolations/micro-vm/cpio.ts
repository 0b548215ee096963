/** Archives in the one format that the kernel unpacks at its start ("newc", documented with Linux). */

export interface ArchiveEntry {
  /** Path without a leading slash; folders come before what is in them. */
  readonly name: string;
  readonly kind: 'folder' | 'file' | 'link';
  /** A file's bytes, or where a link points to. */
  readonly content: Uint8Array;
  readonly isExecutable?: boolean;
}

const types = { folder: 0o040755, file: 0o100644, link: 0o120777 } as const;

export function packArchive(entries: readonly ArchiveEntry[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  entries.forEach((entry, index) => {
    const mode = types[entry.kind] | (entry.isExecutable ? 0o111 : 0);
    pieces.push(header(index + 1, mode, entry.name, entry.content.length));
    pieces.push(padded(entry.content));
  });
  pieces.push(header(0, 0, 'TRAILER!!!', 0));
  return Buffer.concat(pieces);
}

function header(inode: number, mode: number, name: string, size: number): Uint8Array {
  const bytes = Buffer.from(`${name}\0`);
  // inode, mode, user, group, links, time, size, device (2), special device (2), name, check
  const fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, bytes.length, 0];
  const text = fields.map((field) => field.toString(16).padStart(8, '0')).join('');
  return padded(Buffer.concat([Buffer.from(`070701${text}`), bytes]));
}

/** To a multiple of four bytes. */
function padded(bytes: Uint8Array): Uint8Array {
  const rest = -bytes.length & 3;
  return rest === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(rest)]);
}
