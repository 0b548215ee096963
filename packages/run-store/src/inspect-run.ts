/** Everything that is wrong with a run directory, file by file. */
import { join } from 'node:path';
import { checkpointsOf, listCheckpoints, verifyCheckpoint } from './checkpoint.ts';
import { inspectConfig } from './config-file.ts';
import { readEnvironment } from './environment.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { readManifest } from './manifest.ts';
import { hasProfile, readProfile } from './profile-file.ts';
import { readMetrics } from './read-metrics.ts';
import { sha256 } from './sealed-json.ts';
import { codeOf, type Damage, damageOf, describeDamage } from './store-error.ts';
import { listTrajectorySets, readTrajectorySet } from './trajectory-set.ts';

/** The result of `inspectRun`. */
export interface Inspection {
  readonly damage: readonly Damage[];
  /** False for a run of format 1: its files have no checksums, so damage may go unnoticed. */
  readonly isChecked: boolean;
}

/** The sentence that readers print of a run of format 1. */
export const WITHOUT_CHECKSUMS =
  'This run was written without checksums (format 1): a file that was changed later goes unnoticed.';

/** Options of `inspectRun`. */
export interface InspectOptions extends FileSystemOption {
  /**
   * Parts to leave out: checkpoints, because they are large, or both when a run is resumed,
   * because opening the log and finding the newest checkpoint report their damage.
   */
  readonly skips?: readonly ('checkpoints' | 'metrics')[];
}

/** Checks every file of a run: its documents, rows, images and checkpoints. */
export async function inspectRun(
  directory: string,
  { fileSystem = nodeFileSystem, skips = [] }: InspectOptions = {},
): Promise<Inspection> {
  const option = { fileSystem };
  const config = inspectConfig(directory, option);
  const damage: Damage[] = [...config.damage, ...configDamage(directory, option)];
  if (fileSystem.status(join(directory, 'environment.json')) !== undefined) {
    damage.push(...readEnvironment(directory, option).damage);
  }
  if (hasProfile(directory, option)) damage.push(...readProfile(directory, option).damage);
  if (!skips.includes('metrics')) damage.push(...readMetrics(directory, option).damage);
  const sets = listTrajectorySets(directory, option);
  damage.push(...sets.damage);
  for (const name of sets.value) {
    const set = readTrajectorySet(directory, name, option);
    damage.push(...set.damage);
    for (const kept of set.value) damage.push(...(await kept.load()).damage);
  }
  if (!skips.includes('checkpoints')) damage.push(...checkpointDamage(directory, option));
  return { damage: unique(damage), isChecked: config.value?.isChecked ?? true };
}

/** A configuration that is whole may still be another run's. */
function configDamage(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): readonly Damage[] {
  const entry = readManifest(fileSystem, directory).value?.config;
  const path = join(directory, 'config.json');
  try {
    if (entry === undefined || sha256(fileSystem.readFile(path)) === entry.sha256) return [];
  } catch (error) {
    // Reading the configuration says that it is missing.
    return codeOf(error) === 'ENOENT' ? [] : [damageOf(path, error)];
  }
  const problem = 'it is not the configuration that the manifest lists';
  return [{ path, problem, remedy: 'Restore it from a copy.' }];
}

function checkpointDamage(directory: string, option: Required<FileSystemOption>): Damage[] {
  const parent = checkpointsOf(directory);
  const damage: Damage[] = [];
  const steps = new Set<number>();
  for (const one of listCheckpoints(parent, option)) {
    try {
      steps.add(verifyCheckpoint(one, option).step);
    } catch (error) {
      damage.push(damageOf(one, error));
      steps.add(Number(/(\d+)$/.exec(one)?.[1]));
    }
  }
  for (const step of readManifest(option.fileSystem, directory).value?.checkpoints ?? []) {
    if (steps.has(step)) continue;
    const path = join(parent, `step-${String(step).padStart(6, '0')}`);
    damage.push({ path, problem: 'it is missing', remedy: 'Restore it from a copy.' });
  }
  return damage;
}

function unique(all: readonly Damage[]): readonly Damage[] {
  const seen = new Map(all.map((one) => [describeDamage(one), one]));
  return [...seen.values()];
}
