/** The file of a cluster: which parts there are, how many, and what each takes of its machine. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, DataError, messageOf, nearestName } from '@saccade/core';
import {
  choice,
  count,
  describeValue,
  optionalText,
  quantity,
  readSettings,
  type SettingsOf,
  text,
  textList,
  z,
} from '@saccade/core/settings';
import { parse } from 'yaml';

const cpus = (about: string) =>
  quantity({ min: 0, max: 1024, default: 1, unit: 'processors', about });
const gpus = (about: string) => quantity({ min: 0, max: 64, default: 0, unit: 'GPUs', about });
const port = (about: string) => count({ min: 0, max: 65_535, default: 0, unit: 'port', about });
const options = (of: string) =>
  textList({ unit: 'words', about: `More options of ${of}, as on its command line.` });
const variables = () =>
  textList({ unit: 'NAME=value', about: 'Environment variables of each process.' });
const seconds = (preset: number, about: string) =>
  quantity({ min: 1, max: 604_800, default: preset, unit: 'seconds', about });

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Everything that a cluster file may say. */
export const clusterSettings = z.strictObject({
  name: text({
    default: 'saccade',
    unit: 'letters, digits, - and _',
    about: 'The cluster’s name, and that of its folder.',
  }),
  saccade: optionalText({
    unit: 'path',
    about: 'The saccade command on the nodes; unset: the one that starts the cluster.',
  }),
  ray: z
    .strictObject({
      address: optionalText({
        unit: 'address',
        about: 'A running Ray, such as auto or 10.0.0.1:6379; unset: Ray is started here.',
      }),
      python: text({
        default: 'python3',
        unit: 'path',
        about: 'Python with saccade-worker and Ray, here and on every node.',
      }),
      listen: choice(['auto', 'loopback', 'all'], {
        default: 'auto',
        about:
          'Who reaches the parts: loopback, this machine; all, other machines with a token; auto, all ' +
          'where ray.address is set.',
      }),
    })
    .prefault({}),
  worker: z
    .strictObject({
      model: z.string().min(1).meta({
        unit: 'path or name',
        description: 'What is trained: a directory on every node, or hf:owner/name.',
      }),
      ranks: count({
        min: 1,
        max: 4096,
        default: 1,
        unit: 'processes',
        about: 'Processes that the weights are sharded over.',
      }),
      cpus: cpus('Processors of each rank.'),
      gpus: gpus('GPUs of each rank.'),
      port: port('Port of the first rank; 0: a free one.'),
      options: options('saccade_worker'),
      variables: variables(),
    })
    .optional(),
  engines: z
    .strictObject({
      kind: choice(['saccade', 'vllm', 'sglang'], {
        default: 'saccade',
        about: 'The program that samples: saccade serve policy, vLLM or SGLang.',
      }),
      count: count({ min: 1, max: 1024, default: 1, unit: 'engines', about: 'How many.' }),
      model: optionalText({
        unit: 'path or name',
        about: 'What they begin with; unset: the worker’s.',
      }),
      cpus: cpus('Processors of each engine.'),
      gpus: gpus('GPUs of each engine.'),
      port: port('Port of the first engine, the next ones following it; 0: free ones.'),
      options: options('the engine'),
      variables: variables(),
    })
    .optional(),
  sandboxes: z
    .strictObject({
      count: count({ min: 1, max: 4096, default: 1, unit: 'hosts', about: 'How many.' }),
      cpus: cpus('Processors of each host.'),
      port: port('Port of the first host, the next ones following it; 0: free ones.'),
      options: options('saccade serve sandbox'),
      variables: variables(),
    })
    .optional(),
  limits: z
    .strictObject({
      placementSeconds: seconds(300, 'How long a part may wait for room on the cluster.'),
      startSeconds: seconds(900, 'How long a part may take until it is healthy.'),
      hangSeconds: seconds(600, 'Silence after which a part is started again.'),
      graceSeconds: seconds(30, 'How long a part may take to end by itself.'),
      maxRestarts: count({
        min: 0,
        max: 10_000,
        default: 20,
        unit: 'restarts',
        about: 'Losses of a part, without a minute of health between them, before it is given up.',
      }),
    })
    .prefault({}),
});

/** A cluster file with every default filled in, and paths from the root. */
export type ClusterFile = SettingsOf<typeof clusterSettings>;

/** Changes of a cluster file that a command line makes. */
export interface ClusterChanges {
  readonly name?: string;
  /** Ray is started here, whatever the file says. */
  readonly isLocal?: boolean;
  readonly python?: string;
}

/**
 * Reads a cluster file, YAML or JSON. Relative paths in it are those of its folder.
 *
 * @throws ConfigError naming the field, DataError if the file cannot be read
 */
export function readClusterFile(path: string, changes: ClusterChanges = {}): ClusterFile {
  if (!existsSync(path)) {
    throw new ConfigError(
      'file',
      `There is no cluster file ${path}. Write one, e.g. from examples/cluster/local.yaml.`,
    );
  }
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const fact = messageOf(error).split('\n')[0]?.replace(/:$/, '');
    throw new DataError(`${path} cannot be read as YAML or JSON: ${fact}. Mend the file.`, {
      cause: error,
    });
  }
  if (!isFields(value)) {
    throw new DataError(
      `${path} holds ${describeValue(value)}, not the parts of a cluster. Begin with \`worker:\`.`,
    );
  }
  return checkCluster(value, dirname(resolve(path)), changes);
}

/**
 * Checks the fields of a cluster.
 *
 * @param folder where relative paths begin
 * @throws ConfigError naming the field, what came and what was expected
 */
export function checkCluster(
  fields: Readonly<Record<string, unknown>>,
  folder: string,
  { name, isLocal = false, python }: ClusterChanges = {},
): ClusterFile {
  expectKnown(Object.keys(fields));
  const given = readSettings('', clusterSettings, withTexts(fields));
  const { address, ...ray } = given.ray;
  const file: ClusterFile = {
    ...given,
    ...(name !== undefined && { name }),
    ray: {
      ...ray,
      python: resolveCommand(python ?? ray.python, python === undefined ? folder : '.'),
      ...(address !== undefined && !isLocal && { address }),
    },
  };
  if (!NAME.test(file.name)) {
    throw new ConfigError(
      'name',
      `name: expected letters, digits, - and _, got "${file.name}". Choose another name.`,
    );
  }
  const { worker, engines, sandboxes } = file;
  if (worker === undefined && engines === undefined && sandboxes === undefined) {
    throw new ConfigError(
      'worker',
      'The cluster has no parts. Give it at least one of worker, engines and sandboxes.',
    );
  }
  const model = engines && (engines.model ?? worker?.model);
  if (engines !== undefined && model === undefined) {
    throw new ConfigError(
      'engines.model',
      'engines.model: there is no worker to take a model from. Name a directory, or hf:owner/name.',
    );
  }
  if (engines?.kind === 'saccade' && model?.startsWith('hf:')) {
    throw new ConfigError(
      'engines.model',
      `engines.model: saccade serve policy takes a directory, got "${model}". Fetch it first, or use ` +
        'engines.kind: vllm.',
    );
  }
  for (const part of [worker, engines, sandboxes]) {
    for (const one of part?.variables ?? []) {
      if (/^[A-Za-z_]\w*=/.test(one)) continue;
      throw new ConfigError('variables', `variables: expected NAME=value, got "${one}".`);
    }
  }
  return {
    ...file,
    ...(file.saccade && { saccade: resolveCommand(file.saccade, folder) }),
    ...(worker && { worker: { ...worker, model: findModel('worker', worker.model, folder) } }),
    ...(engines &&
      model && { engines: { ...engines, model: findModel('engines', model, folder) } }),
  };
}

/** @throws ConfigError for a section that there is not, with the one that was meant */
function expectKnown(sections: readonly string[]): void {
  const known = Object.keys(clusterSettings.shape);
  const unknown = sections.find((section) => !known.includes(section));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const remedy = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
  throw new ConfigError(unknown, `There is no setting ${unknown} of a cluster. ${remedy}`);
}

/** Whether other machines reach the parts. */
export function isOpen({ ray }: ClusterFile): boolean {
  return ray.listen === 'all' || (ray.listen === 'auto' && ray.address !== undefined);
}

function findModel(part: string, model: string, folder: string): string {
  if (model.startsWith('hf:')) return model;
  const directory = resolve(folder, model);
  if (existsSync(directory)) return directory;
  throw new ConfigError(
    `${part}.model`,
    `${part}.model: there is no directory ${directory}. For a model of a hub write hf:owner/name.`,
  );
}

/** A bare name is found on the PATH; anything with a slash is a path. */
function resolveCommand(command: string, folder: string): string {
  return command.includes('/') ? resolve(folder, command) : command;
}

/** YAML reads `[--threads, 1]` as a word and a number; on a command line both are words. */
function withTexts(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const inWords = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map((one) => (typeof one === 'number' || typeof one === 'boolean' ? `${one}` : one))
      : value;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      isFields(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWords(one)]))
        : value,
    ]),
  );
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
