/** Looks whether a Python can supervise a cluster, before anything is started. */
import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { MissingError } from '@saccade/core';
import { z } from '@saccade/core/settings';

/** Variables of an environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A Python and where it finds more modules. */
export interface PythonOptions {
  readonly python: string;
  /** Folder of the package saccade_worker, where it is not installed. */
  readonly workerFolder?: string;
  readonly environment: Environment;
}

const found = z.object({
  python: z.string(),
  worker: z.string(),
  ray: z.string().nullable(),
  torch: z.string().nullable(),
});

const SECONDS = 120;
const NO_ENTRY = 'No module named';

/** The environment in which a Python finds the worker. */
export function pythonEnvironment({ workerFolder, environment }: PythonOptions): Environment {
  if (workerFolder === undefined) return environment;
  const paths = [workerFolder, environment.PYTHONPATH].filter((path) => path);
  return { ...environment, PYTHONPATH: paths.join(delimiter) };
}

/**
 * Versions of what a cluster needs.
 *
 * @param needsTorch whether there is a worker
 * @throws MissingError with the command that installs what is missing
 */
export async function checkPython(
  options: PythonOptions,
  needsTorch: boolean,
): Promise<{ readonly ray: string }> {
  const { python } = options;
  const install = `Run: ${python} -m pip install './workers/torch[ray]', or name another with ray.python.`;
  const { error, stdout, stderr } = await run(options);
  if (error?.code === 'ENOENT') {
    throw new MissingError(
      `There is no Python at ${python}. Install Python 3.11 or newer, or name another with ray.python.`,
    );
  }
  if (stderr.includes(NO_ENTRY)) {
    throw new MissingError(`${python} has no saccade-worker with a cluster. ${install}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } catch {
    const said = stderr.trim().split('\n').at(-1) ?? '';
    throw new MissingError(`${python} cannot be used: ${said || error?.message}. ${install}`);
  }
  const { ray, torch } = found.parse(value);
  if (ray === null) throw new MissingError(`${python} has no Ray. ${install}`);
  if (needsTorch && torch === null) throw new MissingError(`${python} has no torch. ${install}`);
  return { ray };
}

interface Answer {
  readonly error: (Error & { readonly code?: string | number | null }) | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(options: PythonOptions): Promise<Answer> {
  const env = { ...pythonEnvironment(options) };
  return new Promise((resolve) => {
    execFile(
      options.python,
      ['-m', 'saccade_worker.cluster', '--check'],
      { env, timeout: 1000 * SECONDS },
      (error, stdout, stderr) => resolve({ error, stdout, stderr }),
    );
  });
}
