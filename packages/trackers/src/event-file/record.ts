/** The record format of TensorBoard's event files. */
import { maskedCrc32c } from './crc32c.ts';

/** Length (64 bits), its checksum, the data, its checksum; all little-endian. */
export function encodeRecord(data: Uint8Array): Buffer {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length));
  head.writeUInt32LE(maskedCrc32c(head.subarray(0, 8)), 8);
  const foot = Buffer.alloc(4);
  foot.writeUInt32LE(maskedCrc32c(data));
  return Buffer.concat([head, data, foot]);
}
