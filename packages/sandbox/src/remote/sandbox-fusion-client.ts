/** Single runs on servers that speak SandboxFusion's protocol, ours among them. */
import { HttpError } from '@saccade/http';
import { z } from 'zod';
import { SandboxError } from '../errors.ts';
import { toBase64 } from '../outcome-json.ts';
import { SandboxHost } from './host.ts';

/** One program for `runOnSandboxFusion`, with its input and files. */
export interface SingleRun {
  readonly code: string;
  readonly stdin?: string;
  /** Files by path, there before the code runs. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** Paths of files to give back, where they are there afterwards. */
  readonly fetchFiles?: readonly string[];
  /** Default 10. */
  readonly wallSeconds?: number;
  readonly memoryBytes?: number;
  readonly signal?: AbortSignal;
}

/**
 * How a program ended: `failed` is a return code other than 0. A fault of the server is thrown,
 * not returned.
 */
export interface SingleResult {
  readonly kind: 'ok' | 'failed' | 'timeout';
  /** Absent for a timeout. */
  readonly returnCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

const answered = z.object({
  status: z.enum(['Success', 'Failed', 'SandboxError']),
  message: z.string(),
  run_result: z
    .object({
      status: z.enum(['Finished', 'Error', 'TimeLimitExceeded']),
      execution_time: z.number().nullish(),
      return_code: z.number().int().nullish(),
      stdout: z.string().nullish(),
      stderr: z.string().nullish(),
    })
    .nullish(),
  files: z.record(z.string(), z.string()).default({}),
});

/**
 * Runs Python once on the server at `url`; it is asked once, whatever happens.
 *
 * @throws SandboxError if the server does not answer, refuses or fails itself: no fault of the code
 */
export async function runOnSandboxFusion(
  url: string,
  run: SingleRun,
  token?: string,
): Promise<SingleResult> {
  // Nobody looks at its health meanwhile: only the caller's signal ends the call.
  const limits = { lostSeconds: Number.POSITIVE_INFINITY, asideSeconds: 0 };
  const host = new SandboxHost({ url, ...limits, ...(token !== undefined && { token }) });
  try {
    const body = {
      ...{ code: run.code, language: 'python', run_timeout: run.wallSeconds ?? 10 },
      ...(run.stdin !== undefined && { stdin: run.stdin }),
      ...(run.memoryBytes !== undefined && {
        memory_limit_MB: Math.ceil(run.memoryBytes / 2 ** 20),
      }),
      files: Object.fromEntries(
        Object.entries(run.files ?? {}).map(([path, bytes]) => [path, toBase64(bytes)]),
      ),
      fetch_files: run.fetchFiles ?? [],
    };
    const { signal } = run;
    const call = { method: 'POST', path: '/run_code', body, ...(signal && { signal }) } as const;
    return read(answered.parse(await host.call(call)));
  } catch (error) {
    if (error instanceof HttpError) throw new SandboxError(error.message, { cause: error });
    if (!(error instanceof z.ZodError)) throw error;
    throw new SandboxError(`The server at ${url} speaks no SandboxFusion.`, { cause: error });
  } finally {
    await host.dispose();
  }
}

function read({
  status,
  message,
  run_result: run,
  files,
}: z.output<typeof answered>): SingleResult {
  if (status === 'SandboxError' || !run || run.status === 'Error') {
    throw new SandboxError(`The server could not run the code: ${message}. Try again.`);
  }
  const isLate = run.status === 'TimeLimitExceeded';
  return {
    kind: isLate ? 'timeout' : status === 'Success' ? 'ok' : 'failed',
    ...(typeof run.return_code === 'number' && { returnCode: run.return_code }),
    stdout: run.stdout ?? '',
    stderr: run.stderr ?? '',
    seconds: run.execution_time ?? 0,
    files: Object.fromEntries(
      Object.entries(files).map(([path, bytes]) => [
        path,
        new Uint8Array(Buffer.from(bytes, 'base64')),
      ]),
    ),
  };
}
