import { join } from 'node:path';
import { StateError } from '@saccade/core';
import {
  ensurePython,
  type LocalSandbox,
  type Outcome,
  openSandbox,
  type Sandbox,
  SandboxError,
} from '@saccade/sandbox';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRuntime } from './code-runtime.ts';
import type { Env, EnvStep } from './env.ts';
import { codedance } from './protocols/codedance.ts';
import { pyvisionImageShort, pyvisionImageWith } from './protocols/pyvision-image.ts';
import { pyvisionVideoShort } from './protocols/pyvision-video.ts';
import type { Task } from './task.ts';
import { cardVideo } from './tasksets/card-video.ts';
import { type NeedleFacts, needle } from './tasksets/needle.ts';
import { createToolEnv } from './tool-env.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const answer = '<answer>\n\\boxed{7}\n</answer>';
const code = (body: string): string => `<code>\n\`\`\`python\n${body}\n\`\`\`\n</code>`;
const names = (step: EnvStep): readonly string[] =>
  (step.observation ?? []).flatMap((part) => (part.kind === 'image' ? [part.name] : []));
const budgets = { toolTurns: 4, images: 8 };
const runtime: CodeRuntime = { keepsVariables: true, afterFailure: 'keep' };
const look = code('image_clue_0.crop((0, 0, 56, 56)).show()');

describe('a tool environment on the real sandbox', () => {
  let sandbox: LocalSandbox;
  let task: Task;
  const envs: Env[] = [];
  const make = async (options: Partial<Parameters<typeof createToolEnv>[0]> = {}): Promise<Env> => {
    const env = createToolEnv({ protocol: pyvisionImageShort, sandbox, budgets, ...options });
    envs.push(env);
    await env.reset(task);
    return env;
  };

  beforeAll(async () => {
    const { python } = await ensurePython(environment);
    sandbox = await openSandbox({ python });
    task = await needle.task('train', 0);
  }, 300_000);
  afterAll(async () => {
    await Promise.all(envs.map((env) => env.dispose()));
    const { open } = sandbox.stats();
    await sandbox.dispose();
    expect(open).toBe(0);
  });

  it('shows a crop of the original, pixel for pixel, and says where it comes from', async () => {
    const env = await make();
    const { box } = task.metadata as unknown as NeedleFacts;
    const step = await env.step(code(`image_clue_0.crop((${box})).show()`));
    expect(step.result?.kind).toBe('ok');
    expect(step.stopReason).toBeUndefined();
    const shown = step.observation?.find((part) => part.kind === 'image');
    expect(shown).toMatchObject({ name: 'image_clue_1', width: 28, height: 28 });
    expect(shown?.origin).toEqual({ image: 'image_clue_0', map: [1, 0, box[0], 0, 1, box[1]] });
    const region = { left: box[0], top: box[1], width: 28, height: 28 };
    const original = await sharp(task.images[0]?.png).extract(region).raw().toBuffer();
    const seen = await sharp(shown?.png).removeAlpha().raw().toBuffer();
    expect(seen.equals(original)).toBe(true);
  });

  it('keeps variables from turn to turn, and counts images on', async () => {
    const env = await make();
    const first = await env.step(code('part = image_clue_0.crop((0, 0, 56, 56))\npart.show()'));
    const second = await env.step(code('print(part.size)\npart.show()'));
    expect([...names(first), ...names(second)]).toEqual(['image_clue_1', 'image_clue_2']);
    expect(second.result?.stdout.trim()).toBe('(56, 56)');
  });

  it('goes back to the last success after failures, in CodeDance', async () => {
    const fence = (text: string): string => `<code>\n\`\`\`python\n${text}\n\`\`\`\n</code>`;
    const env = await make({ protocol: codedance, budgets: { ...budgets, toolTurns: 9 } });
    await env.step(fence('import os, sys\nx = 1'));
    for (const failure of ['1 / 0', 'sys.setrecursionlimit(10**9)\ndef f(): f()\nf()']) {
      const failed = await env.step(fence(`x = 2\nopen("lost", "w").close()\n${failure}`));
      expect(failed.result?.kind).not.toBe('ok');
    }
    const { result } = await env.step(fence('print(x, sorted(os.listdir()))'));
    expect(result?.stdout).toBe("1 ['input_image.jpg']\n");
  });

  it('starts anew on reset', async () => {
    const env = await make();
    await env.step(code('secret = 1\nprint(secret)'));
    await env.reset(task);
    const step = await env.step(code('print(secret)'));
    expect(step.result).toMatchObject({ kind: 'exception', errorType: 'NameError' });
    expect(step.stopReason).toBe('toolError');
  });

  it('lets an answer follow four looks, and drops what a fifth one gives', async () => {
    const [good, greedy] = [await make(), await make()];
    for (const env of [good, greedy]) {
      for (let turn = 0; turn < 4; turn++) {
        expect((await env.step(look)).stopReason).toBeUndefined();
      }
    }
    const answered = await good.step(answer);
    expect(answered.action.kind).toBe('answer');
    expect(answered.stopReason).toBe('answered');
    const fifth = await greedy.step(look);
    expect(fifth.stopReason).toBe('turnLimit');
    expect(fifth.result?.kind).toBe('ok');
    expect(fifth).not.toHaveProperty('observation');
  });

  it('ends where the images would be more than allowed', async () => {
    const env = await make({ budgets: { toolTurns: 4, images: 2 } });
    expect((await env.step(look)).stopReason).toBeUndefined();
    const step = await env.step(look);
    expect(step.stopReason).toBe('imageLimit');
    expect(step).not.toHaveProperty('observation');
  });

  it('ends at an error, or shows it where the protocol goes on', async () => {
    const patient = pyvisionImageWith('patient', { prompt: 'short', onError: 'continue' });
    const [strict, lenient] = [await make(), await make({ protocol: patient })];
    expect((await strict.step(code('1 / 0'))).stopReason).toBe('toolError');
    const step = await lenient.step(code('1 / 0'));
    expect(step.stopReason).toBeUndefined();
    expect(JSON.stringify(step.observation)).toContain('ZeroDivisionError');
    expect((await lenient.step(look)).result?.kind).toBe('ok');
  });

  it('keeps to the budgets of its protocol unless it is told others', async () => {
    const env = createToolEnv({ protocol: pyvisionImageShort, sandbox, budgets: { images: 9 } });
    envs.push(env);
    await env.reset(task);
    for (let turn = 0; turn < 4; turn++) {
      expect((await env.step(look)).stopReason).toBeUndefined();
    }
    expect((await env.step(look)).stopReason).toBe('turnLimit');
  });

  it('leaves out an origin that code has forged', async () => {
    const env = await make();
    const forge = (name: string, scale: number): string =>
      code(
        `part = image_clue_0.crop((0, 0, 56, 56))\npart._saccade_origin = ("${name}", ${scale}, 0.0, 1.0, 0.0)\npart.show()`,
      );
    for (const turn of [forge('nowhere', 1), forge('image_clue_0', 0)]) {
      const { observation = [] } = await env.step(turn);
      const shown = observation.find((part) => part.kind === 'image');
      expect(shown).toMatchObject({ width: 56 });
      expect(shown).not.toHaveProperty('origin');
    }
  });

  it('opens a new session for the next code where one was killed', async () => {
    const patient = pyvisionImageWith('patient', { prompt: 'short', onError: 'continue' });
    const env = await make({ protocol: patient });
    await env.step(code('kept = 1\nprint(kept)'));
    const dead = await env.step(code('import os, signal\nos._exit(3)'));
    expect([dead.result?.kind, dead.stopReason]).toEqual(['crashed', undefined]);
    const next = await env.step(code('print("kept" in globals(), image_clue_0.size)'));
    expect(next.result?.stdout.trim()).toBe('False (448, 448)');
  });

  it('makes code that sets a session up and fails a fault of the sandbox', async () => {
    const broken = { ...pyvisionImageShort, runtime: { ...runtime, setUp: () => '1 / 0' } };
    const env = await make({ protocol: broken });
    const failure = await env.step(look).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SandboxError);
    expect((failure as Error).message).toMatch(/set up: ZeroDivisionError/);
  });

  it('gives a video to the code and none of its frames to the context', async () => {
    const env = await make({ protocol: pyvisionVideoShort });
    const clip = await cardVideo.task('train', 0);
    const { user } = await env.reset(clip);
    expect(user.map(({ kind }) => kind)).toEqual(['text']);
    const step = await env.step(
      code('print(len(video_clue_0))\nImage.fromarray(video_clue_0[40]).show()'),
    );
    expect(step.result).toMatchObject({ kind: 'ok', stdout: '96\n', imageCount: 1 });
    const shown = step.observation?.find((part) => part.kind === 'image');
    expect(shown).toMatchObject({ name: 'image_clue_0', width: 56, height: 56 });
  });

  it('ends at a turn that is neither code nor answer', async () => {
    const step = await (await make()).step('I wonder.');
    expect(step.action).toEqual({ kind: 'invalid', reason: 'noCodeNorAnswer' });
    expect(step.stopReason).toBe('invalidAction');
  });
});

describe('a tool environment', () => {
  const infra = {
    kind: 'infraError',
    stdout: '',
    stderr: '',
    images: [],
    truncated: [],
    wallMs: 0,
    cpuMs: 0,
    maxRssKb: 0,
    tier: 'process',
    error: { type: 'ServerDied', message: 'the fork server died', traceback: '' },
  } satisfies Outcome;
  const broken = (open: Sandbox['open']): Sandbox => ({
    tier: 'process',
    open,
    stats: () => ({ open: 0, waiting: 0, started: 0, executions: 0 }),
    dispose: async () => undefined,
  });

  it('throws a SandboxError, never a step, when the sandbox fails', async () => {
    const task = await needle.task('train', 1);
    let disposed = 0;
    const dying = broken(async () => ({
      execute: async () => infra,
      dispose: async () => void disposed++,
    }));
    const unopened = broken(async () => {
      throw new SandboxError('no server');
    });
    for (const [sandbox, message] of [
      [dying, /under the code of needle-train-000001: the fork server died/],
      [unopened, /no server/],
    ] as const) {
      const env = createToolEnv({ protocol: pyvisionImageShort, sandbox, budgets });
      await env.reset(task);
      const failure = await env.step(look).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SandboxError);
      expect((failure as Error).message).toMatch(message);
      await env.dispose();
      await env.dispose();
    }
    expect(disposed).toBe(1);
  });

  it('refuses a step before reset', async () => {
    const sandbox = broken(async () => {
      throw new SandboxError('not opened');
    });
    const env = createToolEnv({ protocol: pyvisionImageShort, sandbox, budgets });
    await expect(env.step(answer)).rejects.toThrow(StateError);
  });
});
