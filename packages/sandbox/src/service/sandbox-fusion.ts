/** The protocol of SandboxFusion, which verl, CodeDance and CodeVision speak: one run, one session. */
import { DataError, messageOf } from '@saccade/core';
import { bodyOf, Refusal } from '@saccade/http/service';
import { Hono } from 'hono';
import { z } from 'zod';
import { QueueFullError } from '../errors.ts';
import type { Outcome } from '../outcome.ts';
import { toBase64 } from '../outcome-json.ts';
import type { Session } from '../session.ts';
import { runCells } from './cells.ts';
import { runResultOf } from './run-result.ts';
import { fetchFiles, fetchFilesSchema, filesSchema, paceOf, prepare } from './script.ts';
import { callerOf, type ServiceParts, signalOf } from './service-parts.ts';

/** After the total time of a notebook, for its executions to end by their own limits. */
const LATE_SECONDS = 0.5;

const codeRequest = z.object({
  code: z.string(),
  language: z.string(),
  compile_timeout: z.number().default(10),
  run_timeout: z.number().positive().default(10),
  memory_limit_MB: z.number().int().default(-1),
  stdin: z.string().nullish(),
  files: filesSchema,
  fetch_files: fetchFilesSchema,
  args: z.array(z.string()).default([]),
});

const jupyterRequest = z.object({
  cells: z.array(z.string()),
  cell_timeout: z.number().nonnegative().default(0),
  total_timeout: z.number().positive().default(45),
  memory_limit_MB: z.number().int().default(-1),
  kernel: z.literal('python3').default('python3'),
  files: filesSchema,
  fetch_files: fetchFilesSchema,
});

export function sandboxFusion(parts: ServiceParts): Hono {
  const { sandbox, limits } = parts;
  const routes = new Hono();

  routes.post('/run_code', async (context) => {
    const request = await bodyOf(context, codeRequest);
    if (request.language !== 'python') {
      throw new Refusal({
        status: 422,
        code: 'language',
        fact: `This sandbox runs no ${request.language}.`,
        remedy: 'Send code of the language "python".',
      });
    }
    const signal = signalOf(context);
    const answer = { message: '', compile_result: null, executor_pod_name: null };
    try {
      return context.json(
        await oneRun(sandbox.open({ signal, caller: callerOf(context) }), async (session) => {
          const { files, stdin } = request;
          const memoryBytes = memoryOf(request.memory_limit_MB);
          const before = paceOf(limits, signal, limits.wallSeconds);
          await prepare(session, { files, stdin: stdin ?? '', memoryBytes }, before);
          const wallSeconds = request.run_timeout;
          const outcome = await session.execute(request.code, { signal, wallSeconds });
          parts.onOutcome('run_code', outcome);
          if (outcome.kind === 'infraError') return sandboxError(outcome.error?.message ?? '');
          const run = runResultOf(outcome);
          const isOver = outcome.kind !== 'ok' && outcome.kind !== 'exception';
          const after = paceOf(limits, signal, limits.wallSeconds);
          return {
            ...answer,
            status: run.return_code === 0 ? 'Success' : 'Failed',
            run_result: run,
            files: isOver ? {} : await fetchFiles(session, request.fetch_files, after),
            ...imagesOf(outcome),
          };
        }),
      );
    } catch (error) {
      return context.json(ours(error, signal));
    }
  });

  routes.post('/run_jupyter', async (context) => {
    const request = await bodyOf(context, jupyterRequest);
    const signal = signalOf(context);
    // The session's own limits end its executions; this ends the call even where they do not.
    let late: AbortSignal | undefined;
    try {
      return context.json(
        await oneRun(sandbox.open({ signal, caller: callerOf(context) }), async (session) => {
          late = AbortSignal.timeout(1000 * (request.total_timeout + LATE_SECONDS));
          const either = AbortSignal.any([signal, late]);
          const pace = paceOf(limits, either, request.total_timeout);
          const memoryBytes = memoryOf(request.memory_limit_MB);
          await prepare(session, { files: request.files, memoryBytes }, pace);
          const { cells, driver, isLost } = await runCells(session, {
            cells: request.cells,
            cellSeconds: request.cell_timeout,
            pace,
            onOutcome: (outcome) => parts.onOutcome('run_jupyter', outcome),
          });
          if (isLost) return sandboxError(driver.stderr);
          const isWhole = driver.status === 'Finished';
          return {
            status: isWhole ? 'Success' : 'Failed',
            message: '',
            driver,
            cells: isWhole ? cells : [],
            executor_pod_name: null,
            files: isWhole ? await fetchFiles(session, request.fetch_files, pace) : {},
          };
        }),
      );
    } catch (error) {
      if (late?.aborted && !signal.aborted) return context.json(tooLate(request.total_timeout));
      return context.json(ours(error, signal));
    }
  });

  return routes;
}

/** A notebook whose time was over before it could say so itself. */
function tooLate(seconds: number): Record<string, unknown> {
  const how = { execution_time: seconds, return_code: null, stdout: '', stderr: '' };
  const driver = { status: 'TimeLimitExceeded', ...how };
  const nothing = { cells: [], executor_pod_name: null, files: {} };
  return { status: 'Failed', message: '', driver, ...nothing };
}

async function oneRun<Result>(
  opening: Promise<Session>,
  run: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await opening;
  try {
    return await run(session);
  } finally {
    await session.dispose();
  }
}

/** Beyond SandboxFusion: what the code showed. Its clients leave fields alone that they do not know. */
function imagesOf({ images }: Outcome): { images?: readonly string[] } {
  return images.length === 0 ? {} : { images: images.map(({ png }) => toBase64(png)) };
}

function memoryOf(megabytes: number): number | undefined {
  return megabytes > 0 ? megabytes * 1024 ** 2 : undefined;
}

/** SandboxFusion tells its own failures with status 200; refusals that may be retried stay errors. */
function ours(error: unknown, signal: AbortSignal): Record<string, unknown> {
  const isAnswered =
    error instanceof Refusal || error instanceof QueueFullError || error instanceof DataError;
  if (isAnswered || signal.aborted) throw error;
  return sandboxError(messageOf(error));
}

function sandboxError(message: string): Record<string, unknown> {
  const results = { compile_result: null, run_result: null, executor_pod_name: null };
  return { status: 'SandboxError', message, ...results, files: {} };
}
