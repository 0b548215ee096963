/** Writes tasks of a set as a folder of images with `metadata.jsonl`, which `datasets` opens as an image folder. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Draws the first tasks of a split into `folder`; a task whose record and image are there is not drawn
 * again, so that an interrupted build goes on.
 *
 * @throws Error where the folder holds tasks of other settings
 * @returns the records in their order: `{ file_name, id, question, answer, width, height, bytes, metadata }`
 */
export async function buildSet(taskSet, settings, split, count, folder, onDone = () => {}) {
  await mkdir(join(folder, 'images'), { recursive: true });
  await checkSame(
    join(folder, 'build.json'),
    JSON.stringify({ name: taskSet.name, split, settings }),
  );
  const path = join(folder, 'metadata.jsonl');
  const known = new Map((await recordsIn(path)).map((record) => [record.id, record]));
  const records = [];
  for (let index = 0; index < count; index++) {
    const id = idOf(split, index, known);
    const kept = known.get(id);
    if (kept !== undefined && existsSync(join(folder, kept.file_name))) {
      records.push(kept);
    } else {
      const task = await taskSet.task(split, index);
      const [{ png, width, height }] = task.images;
      const record = {
        file_name: `images/${task.id}.png`,
        id: task.id,
        question: task.question,
        answer: task.answer,
        width,
        height,
        bytes: png.length,
        metadata: task.metadata,
      };
      await whole(join(folder, record.file_name), png);
      records.push(record);
      await whole(path, lines(records));
    }
    onDone(index + 1, count);
  }
  await whole(path, lines(records));
  return records;
}

/** A folder goes on with the settings that it began with. */
async function checkSame(path, wanted) {
  if (!existsSync(path)) return await whole(path, wanted);
  const found = await readFile(path, 'utf8');
  if (found === wanted) return;
  throw new Error(
    `${path}: expected ${wanted}, got ${found}. Give another --out, or remove the folder.`,
  );
}

/** Ids end with the index, so that a kept task is found without being drawn. */
function idOf(split, index, known) {
  const end = `-${split}-${String(index).padStart(6, '0')}`;
  return [...known.keys()].find((id) => id.endsWith(end));
}

const lines = (records) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

async function whole(path, bytes) {
  await writeFile(`${path}.part`, bytes);
  await rename(`${path}.part`, path);
}

async function recordsIn(path) {
  if (!existsSync(path)) return [];
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** How often each value of a fact comes: `[[value, count], …]`, most frequent first. */
export function tally(records, factOf) {
  const counts = new Map();
  for (const record of records) {
    const value = String(factOf(record));
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** A table in Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Least, median and largest of numbers. */
export function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
}
