/** `saccade parity`: a checkpoint here and in Hugging Face transformers, part by part. */
import { readFileSync } from 'node:fs';
import { ConfigError, messageOf } from '@saccade/core';
import type { ComparedPart } from '@saccade/policy/parity';
import { printJson } from './json.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ParityFlags {
  readonly policy: string;
  readonly reference?: string;
  readonly python: string;
  readonly prompt: string;
  readonly image?: readonly string[];
  readonly backend: string;
  readonly dtype: 'f32' | 'bf16';
  readonly gate?: number;
  readonly gradients: boolean;
  readonly greedy: number;
  readonly json?: boolean;
}

/** The most that float32 sums in another order differ by, and bf16 by its rounding. */
const GATES = { f32: 1e-4, bf16: 5e-2 } as const;
/** An image whose sides no architecture divides. */
const TEST_IMAGE = [331, 243] as const;

export async function compareWithTransformers(flags: ParityFlags): Promise<void> {
  const report = terminalProgress({ stream: process.stderr });
  const encoded = (flags.image ?? []).map(readImage);
  // Imported only here: other commands need none of it.
  const [parity, { openCheckpoint }] = await Promise.all([
    import('@saccade/policy/parity'),
    import('./open-checkpoint.ts'),
  ]);
  const { backend, dtype } = flags;
  const options = { backend, dtype, onEvent: report };
  const { policy, directory } = await openCheckpoint(flags.policy, options);
  try {
    const isDrawn = policy.model.encodeImages !== undefined && encoded.length === 0;
    const { parts, first, versions } = await parity.checkParity({
      policy,
      checkpoint: flags.reference ?? directory,
      python: flags.python,
      prompt: flags.prompt,
      images: isDrawn ? [parity.drawTestImage(...TEST_IMAGE)] : encoded,
      dtype: dtype === 'f32' ? 'float32' : 'bfloat16',
      gate: flags.gate ?? GATES[dtype],
      gradients: flags.gradients,
      greedyTokens: flags.greedy,
      onStep: (note) => report({ kind: 'progress', stage: 'parity', done: 0, note }),
    });
    if (first !== undefined) process.exitCode = 1;
    if (flags.json) {
      printJson({ versions, first, parts });
      return;
    }
    console.log(`${flags.policy} beside ${versions}:`);
    for (const line of table(parts)) console.log(line);
    console.log(
      first === undefined
        ? 'yes  Every part equals that of transformers.'
        : `no   The first part that differs is ${first.what}${describe(first)}.`,
    );
  } finally {
    const { device } = policy;
    policy.dispose();
    device.dispose();
  }
}

/** A line a part; gradients in one, with the worst, and those that differ each in their own. */
function table(parts: readonly ComparedPart[]): readonly string[] {
  const gradients = parts.filter(({ what }) => what.startsWith(GRADIENT));
  const differing = gradients.filter((part) => !isEqual(part));
  const worst = gradients.reduce<ComparedPart | undefined>(
    (most, part) => (most === undefined || part.difference > most.difference ? part : most),
    undefined,
  );
  const summary = worst && {
    ...worst,
    what: `gradients of ${gradients.length} tensors, most ${worst.what.slice(GRADIENT.length)}`,
  };
  const shown = parts.flatMap((part) => {
    if (!part.what.startsWith(GRADIENT)) return [part];
    if (part !== gradients[0]) return [];
    return differing.length > 0 ? differing : [summary ?? part];
  });
  const width = Math.max(...shown.map(({ what }) => what.length));
  return shown.map((part) => {
    const { what, difference, problem } = part;
    const size = Number.isFinite(difference) ? difference.toExponential(1) : 'differs';
    const line = `${isEqual(part) ? 'ok  ' : 'FAIL'}  ${what.padEnd(width)}  ${size}`;
    return problem === undefined ? line : `${line}  ${problem}`;
  });
}

const GRADIENT = 'gradient of ';

const isEqual = ({ difference, gate }: ComparedPart): boolean => difference <= gate;

function describe({ difference, gate, problem }: ComparedPart): string {
  if (problem !== undefined) return `: ${problem}`;
  if (!Number.isFinite(difference) || gate === 0) return '';
  return `, by ${difference.toExponential(1)}; at most ${gate.toExponential(0)} counts as equal`;
}

/** @throws ConfigError if it cannot be read */
function readImage(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError('image', `--image: ${path} cannot be read: ${messageOf(error)}.`);
  }
}
