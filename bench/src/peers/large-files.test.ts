import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readBytes, writeBytes } from './large-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'saccade-large-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([0, 1, 6, 7, 8, 50])('%i bytes come back, in pieces of seven', (length) => {
  const path = join(folder, `${length}`);
  const bytes = Uint8Array.from({ length }, (_, i) => i * 31);
  writeBytes(path, bytes, 7);
  expect(new Uint8Array(readFileSync(path))).toEqual(bytes);
  expect(new Uint8Array(readBytes(path, 7))).toEqual(bytes);
  expect(new Uint8Array(readBytes(path))).toEqual(bytes);
});
