/** Runs a pipeline and writes what it made: trajectories, chosen tasks, statistics, a page. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { readSettings, type SettingsInput, type SettingsSchema } from '@saccade/core/settings';
import { writeDialogs } from '@saccade/data/formats';
import type { SynthesisContext } from './context.ts';
import { type Pipeline, runPipeline, type SynthesisResult } from './pipeline.ts';
import { statisticsOf } from './statistics.ts';
import { statisticsPage } from './statistics-page.ts';

/** What a run of a pipeline is, as far as what it makes depends on it. */
export interface SynthesisIdentity {
  /** The task set and its first index, the teacher, the weak model: in words. */
  readonly [what: string]: unknown;
}

/** Where everything lies after a run. */
export interface Synthesized extends SynthesisResult {
  /** Examples to train on, for the cold start `given`. */
  readonly trajectories: string;
  /** The statistics as a page. */
  readonly page: string;
}

/** Examples that the page shows. */
const SHOWN_EXAMPLES = 20;

/**
 * Runs a pipeline in a directory. A second call with the same settings continues, and gives the same.
 *
 * @throws DataError if the directory holds something of other settings
 */
export async function synthesize<Schema extends SettingsSchema>(
  pipeline: Pipeline<Schema>,
  given: SettingsInput<Schema>,
  context: SynthesisContext,
  identity: SynthesisIdentity = {},
): Promise<Synthesized> {
  const { directory } = context;
  const settings = readSettings('pipeline', pipeline.settings, given);
  await claim(directory, { pipeline: pipeline.name, settings, ...identity });
  const result = await runPipeline(pipeline, given, context);
  const trajectories = join(directory, 'trajectories.jsonl');
  const { protocol } = context.teacher;
  const written = await writeDialogs(
    trajectories,
    { name: 'saccade', protocol: protocol.name },
    result.samples,
  );
  if (written.refused.length > 0) {
    const [first] = written.refused;
    const message = `${written.refused.length} examples cannot be written: ${first?.reason}.`;
    context.onEvent({ kind: 'warning', message });
  }
  if (result.taskIds !== undefined) {
    await writeWhole(join(directory, 'tasks.json'), JSON.stringify(result.taskIds, null, 2));
  }
  const statistics = statisticsOf(pipeline, settings, result, protocol);
  await writeWhole(join(directory, 'statistics.json'), `${JSON.stringify(statistics, null, 2)}\n`);
  const page = join(directory, 'statistics.html');
  const shown = result.samples.length > 0 ? spread(result.samples, SHOWN_EXAMPLES) : [];
  const chosen = new Set(result.taskIds);
  const tasks = spread(
    context.tasks.filter(({ id }) => chosen.has(id)),
    SHOWN_EXAMPLES,
  );
  await writeWhole(page, await statisticsPage(statistics, shown, tasks));
  return { ...result, trajectories, page };
}

/** The directory is this run's: what it holds must be of the same settings. */
async function claim(directory: string, identity: object): Promise<void> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, 'synthesis.json');
  const wanted = `${JSON.stringify(identity, null, 2)}\n`;
  if (!existsSync(path)) return await writeWhole(path, wanted);
  const found = await readFile(path, 'utf8');
  if (found === wanted) return;
  throw new DataError(
    `${directory} holds data of other settings (synthesis.json). Choose another --out, or repeat the ` +
      'settings that are written there.',
  );
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

/** At most so many of a list, evenly over it. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => {
    return items[Math.floor((index * items.length) / most)] as T;
  });
}
