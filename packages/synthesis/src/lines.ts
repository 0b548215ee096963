/** Files of JSON lines that a process may be killed while writing. */
import { appendFile, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The rows of a file, none if there is no file. A line that was cut short by a kill is passed over. */
export async function readLines<Row>(path: string): Promise<readonly Row[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line): readonly Row[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Row];
    } catch {
      return [];
    }
  });
}

/** Opens a file to append rows to; what a kill has cut short at its end is closed off first. */
export async function openLines(path: string): Promise<(row: object) => Promise<void>> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+');
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  if (size > 0 && last.toString() !== '\n') await file.appendFile('\n');
  await file.close();
  return (row) => appendFile(path, `${JSON.stringify(row)}\n`);
}
