/** Grades in a file, so that a run that is resumed or scored again asks nothing twice. Node only. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GradeCache } from './ask-judge.ts';

/**
 * A cache in JSON Lines, one `["key", grade]` each, only ever appended to. A line that a crash cut
 * short is passed over. One process at a time may write.
 */
export function fileCache(path: string): GradeCache {
  mkdirSync(dirname(path), { recursive: true });
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const grades = new Map(before.split('\n').flatMap(entryOf));
  if (before !== '' && !before.endsWith('\n')) appendFileSync(path, '\n');
  return {
    get: async (key) => grades.get(key),
    async set(key, grade) {
      if (grades.get(key) === grade) return;
      grades.set(key, grade);
      appendFileSync(path, `${JSON.stringify([key, grade])}\n`);
    },
  };
}

function entryOf(line: string): readonly (readonly [string, number])[] {
  try {
    const parsed: unknown = JSON.parse(line);
    if (!Array.isArray(parsed)) return [];
    const [key, grade] = parsed as readonly unknown[];
    return typeof key === 'string' && typeof grade === 'number' ? [[key, grade]] : [];
  } catch {
    return [];
  }
}
