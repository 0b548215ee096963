/** What Hugging Face transformers computes of a context, in a process of Python. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DataError, MissingError } from '@saccade/core';
import type { NamedArray } from '@saccade/nn';
import { readSafetensors } from '@saccade/nn/files';
import type { EncodedContent } from '../content.ts';

/** What transformers is given. */
export interface ReferenceInputs {
  /** The directory of the checkpoint that it loads. */
  readonly checkpoint: string;
  readonly dtype: 'float32' | 'bfloat16';
  readonly prompt: string;
  /** Images as files hold them, in order. */
  readonly encoded: readonly Uint8Array[];
  /** Our tokens and patches. */
  readonly context: EncodedContent;
  /** Which tokens stand for a part of an image. */
  readonly isPlaceholder: readonly boolean[];
  /** [T − 1] factors of the log-probs that are differentiated; absent: no gradients. */
  readonly weights?: Float32Array;
  readonly greedyTokens: number;
}

/** What transformers gives. */
export interface Reference {
  readonly versions: string;
  /** Token ids of the conversation by the checkpoint's processor, or why there are none. */
  readonly processor: { readonly ids?: readonly number[]; readonly error?: string };
  /** Tokens that follow the context, each the most likely one. */
  readonly greedy: readonly number[];
  readonly arrays: ReadonlyMap<string, NamedArray>;
}

const PROGRAM = fileURLToPath(new URL('../../python/parity.py', import.meta.url));
const PACKAGES = 'torch transformers safetensors pillow numpy jinja2';

/**
 * Has a Python compute it.
 *
 * @param python     with torch and transformers
 * @param directory  an empty one for the files in between
 * @param onStep     takes what was done: `processor`, `weights`, `model`, `greedy tokens`
 * @throws MissingError  if the Python cannot be run, or lacks a package
 * @throws DataError     if transformers fails on the checkpoint
 */
export async function referenceValues(
  python: string,
  directory: string,
  inputs: ReferenceInputs,
  onStep: (step: string) => void,
): Promise<Reference> {
  const { context, encoded, prompt, weights, ...rest } = inputs;
  const names = encoded.map((_, i) => `image-${i}`);
  for (const [i, bytes] of encoded.entries()) {
    await writeFile(join(directory, names[i] as string), bytes);
  }
  const images = await Promise.all(
    context.images.map(async ({ patches, grids = 1, gridHeight, gridWidth }, i) => {
      const file = `patches-${i}.f32`;
      await writeFile(join(directory, file), patches);
      return { file, grid: [grids, gridHeight, gridWidth] };
    }),
  );
  const content = [...names.map(() => ({ type: 'image' })), { type: 'text', text: prompt }];
  const written = {
    ...rest,
    tokens: [...context.tokens],
    images,
    encoded: names,
    messages: [{ role: 'user', content: names.length === 0 ? prompt : content }],
    gradients: weights !== undefined,
    weights: [...(weights ?? [])],
  };
  await writeFile(join(directory, 'inputs.json'), JSON.stringify(written));
  await runPython(python, directory, onStep);
  const report = JSON.parse(await readFile(join(directory, 'reference.json'), 'utf8'));
  return {
    versions: `transformers ${report.transformers}, torch ${report.torch}`,
    processor: report.processor,
    greedy: report.greedy,
    arrays: await readSafetensors(join(directory, 'reference.safetensors')),
  };
}

function runPython(
  python: string,
  directory: string,
  onStep: (step: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [PROGRAM, directory], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    createInterface({ input: child.stdout }).on('line', onStep);
    child.on('error', (error) => {
      reject(
        new MissingError(
          `${python} cannot be run: ${error.message}. Name a Python with --python that has ` +
            `${PACKAGES}.`,
          { cause: error },
        ),
      );
    });
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(pythonError(python, code, errors));
    });
  });
}

function pythonError(python: string, code: number | null, errors: string): Error {
  const lines = errors.trim().split('\n');
  const last = lines.at(-1) ?? '';
  if (/^(ModuleNotFoundError|ImportError)/.test(last)) {
    return new MissingError(
      `${python} lacks a package: ${last}. Install them: ${python} -m pip install ${PACKAGES}.`,
    );
  }
  return new DataError(
    `transformers ended with status ${code}: ${lines.slice(-12).join('\n')}\nCheck that this ` +
      'version of transformers reads the checkpoint.',
  );
}
