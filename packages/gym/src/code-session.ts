/** Runs the code of one trajectory as its protocol has it: what is set up, kept and returned. */
import { type Outcome, type Sandbox, SandboxError, type Session } from '@saccade/sandbox';
import type { ToolImage } from '@saccade/tools';
import type { CodeRuntime } from './code-runtime.ts';
import type { TaskVideo } from './task.ts';

const plain: CodeRuntime = { keepsVariables: true, afterFailure: 'keep' };

/** Kinds after which a session runs no more code. */
const deadly: readonly Outcome['kind'][] = ['timeout', 'memory', 'crashed', 'infraError'];

export interface CodeSessionOptions {
  /** Those the model was shown; variables of the session. */
  readonly images: readonly ToolImage[];
  /** The task's videos; variables of the session, none of them in the context. */
  readonly videos?: readonly TaskVideo[];
  readonly runtime?: CodeRuntime;
}

export class CodeSession {
  readonly #sandbox: Sandbox;
  readonly #images: readonly ToolImage[];
  readonly #videos: readonly TaskVideo[];
  readonly #runtime: CodeRuntime;
  #session: Promise<Session> | undefined;

  constructor(sandbox: Sandbox, { images, videos = [], runtime = plain }: CodeSessionOptions) {
    this.#sandbox = sandbox;
    this.#images = images;
    this.#videos = videos;
    this.#runtime = runtime;
  }

  /** @throws SandboxError if no session can be opened or set up */
  async execute(code: string, signal?: AbortSignal): Promise<Outcome> {
    const abort = signal === undefined ? {} : { signal };
    const { rewrite, keepsVariables, afterFailure } = this.#runtime;
    if (!keepsVariables) await this.dispose();
    // Sessions open on first use: an answer without a look costs no process.
    this.#session ??= this.#open(abort);
    const session = await this.#session;
    const script = rewrite?.(code) ?? code;
    const outcome = asWritten(await session.execute(script, abort), code, script);
    const hasFailed = outcome.kind !== 'ok';
    const isDead = deadly.includes(outcome.kind) && outcome.rolledBack !== true;
    if (isDead || (hasFailed && afterFailure === 'reset')) {
      await this.dispose();
    }
    return outcome;
  }

  async dispose(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    // A session that never opened has reported its failure where it was opened.
    await session?.then((opened) => opened.dispose()).catch(() => undefined);
  }

  #names(): readonly string[] {
    return this.#images.map(({ name }) => name);
  }

  async #open(abort: { signal?: AbortSignal }): Promise<Session> {
    const images = this.#images.map(({ name, png }) => ({ name, encoded: png }));
    const videos = this.#videos.map(({ name, encoded }) => ({ name, encoded }));
    const mode = this.#runtime.afterFailure === 'rollBack' ? 'transactional' : 'persistent';
    const { repairs = {} } = this.#runtime;
    const capture = this.#runtime.capture?.(this.#names());
    const session = await this.#sandbox.open({
      ...{ images, videos, mode, repairs, ...abort },
      ...(capture !== undefined && { capture }),
    });
    const script = this.#runtime.setUp?.(this.#names());
    try {
      if (script === undefined || script === '') return session;
      const { kind, error } = await session.execute(script, abort);
      if (kind === 'ok') return session;
      const reason = error === undefined ? kind : `${error.type}: ${error.message}`;
      throw new SandboxError(`A session could not be set up: ${reason}.`);
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }
}

/** The outcome with a traceback that quotes the model's lines, not those that were run for them. */
function asWritten(outcome: Outcome, code: string, script: string): Outcome {
  const { error } = outcome;
  if (error === undefined || script === code) return outcome;
  const lines = code.split('\n');
  let { traceback } = error;
  script.split('\n').forEach((line, i) => {
    const written = lines[i];
    if (written === undefined || written === line) return;
    traceback = traceback.replaceAll(line.trim(), () => written.trim());
  });
  return { ...outcome, error: { ...error, traceback } };
}
