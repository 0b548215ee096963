/** Images of an export as files beside its table. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '@saccade/gym';

/** Images of a folder, at most: file systems and people slow down with more. */
const PER_FOLDER = 1000;

/** A name that every file system takes. */
export const fileName = (id: string): string => id.replace(/[^\w.-]/g, '_');

/**
 * Writes a task's images; gives their names relative to `base`.
 *
 * @param number  of the task in its split
 */
export async function writeImages(
  base: string,
  folder: string,
  { id, images }: Task,
  number: number,
): Promise<readonly string[]> {
  const inside = `${folder}/${String(Math.floor(number / PER_FOLDER)).padStart(4, '0')}`;
  await mkdir(join(base, inside), { recursive: true });
  const names: string[] = [];
  for (const { name, png } of images) {
    const file = `${inside}/${fileName(id)}-${name}.png`;
    await writeFile(join(base, file), png);
    names.push(file);
  }
  return names;
}
