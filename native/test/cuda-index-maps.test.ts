/**
 * Index maps that CUDA kernels are made of, in the very functions of `kernels/cuda`: compiled for the
 * processor with the emulator's blocks and the compiler's check of undefined behavior, and held
 * against brute force. The program is `index-maps/`; each of its lines is a test here.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const here = fileURLToPath(new URL('index-maps/', import.meta.url));
const kernels = fileURLToPath(new URL('../../kernels/', import.meta.url));
const emulator = join(kernels, 'cuda/emulator');
const isSweep = process.env.SACCADE_SWEEP !== undefined;
/** Kernels that are run whole, some on arrays too large to fill. They take four fifths of the time to compile. */
const RUN = [
  ...['add', 'attention', 'attention-decode', 'parts/attention-backward', 'gather-rows'],
  ...['linear-logprob', 'linear-sample', 'rms-norm', 'rotary', 'scatter-rows'],
];
/** The files that run them. */
const RUNS = /(offsets|key-parts|prefixes)\.cc$/;

const FLAGS = [
  ...['-std=gnu++17', '-O1', '-fexceptions', '-Wno-unknown-pragmas', '-I', emulator],
  ...['-fsanitize=undefined', '-fno-sanitize=vptr', '-fno-sanitize-recover=all'],
];

const compiler = [process.env.CXX, 'c++', 'g++', 'clang++'].find(
  (command) => command && spawnSync(command, ['--version']).status === 0,
);

/** Everything that the program is made of, and the compiler. */
function hashSources(): string {
  const hash = createHash('sha256').update(spawnSync(compiler ?? '', ['--version']).stdout);
  for (const folder of [here, join(kernels, 'cuda'), join(kernels, 'include')]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (/\.(cc|h|cu|cuh)$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
    }
  }
  return hash
    .update(`${FLAGS.join(' ')} ${isSweep}`)
    .digest('hex')
    .slice(0, 16);
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Without blocking the test runner, which wants to be heard of now and then. */
function start(command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}

async function compile(args: readonly string[]): Promise<void> {
  const { status, stderr } = await start(compiler ?? '', args);
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stderr}`);
}

/** Two at a time. */
async function compileAll(commands: readonly (readonly string[])[]): Promise<void> {
  const waiting = [...commands];
  const work = async (): Promise<void> => {
    for (let args = waiting.shift(); args !== undefined; args = waiting.shift()) {
      await compile(args);
    }
  };
  await Promise.all([work(), work()]);
}

/** The program, compiled once for what it is made of. */
async function program(): Promise<string> {
  const folder = join(tmpdir(), `saccade-index-maps-${hashSources()}`);
  const path = join(folder, 'index-maps');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const object = (name: string): string => join(folder, `${basename(name)}-${process.pid}.o`);
  const run = isSweep ? RUN : [];
  const own = readdirSync(here).filter(
    (name) => name.endsWith('.cc') && (isSweep || !RUNS.test(name)),
  );
  const commands = [
    // Its runGrid becomes the one that launches.cc calls for the blocks that are wanted.
    [join(emulator, 'block.cc'), '-DrunGrid=runWholeGrid', '-o', object('block')],
    ...run.map((name) => ['-xc++', join(kernels, 'cuda', `${name}.cu`), '-o', object(name)]),
    ...own.map((name) => [join(here, name), '-o', object(name)]),
  ];
  await compileAll(commands.map((args) => [...FLAGS, '-c', ...args]));
  const objects = ['block', ...run, ...own].map(object);
  await compile([...objects, '-fsanitize=undefined', '-lpthread', '-o', `${path}-${process.pid}`]);
  for (const file of objects) rmSync(file);
  renameSync(`${path}-${process.pid}`, path);
  return path;
}

const obstacle =
  process.platform === 'darwin'
    ? 'the emulator of CUDA has no threads on macOS'
    : compiler === undefined
      ? 'there is no C++ compiler'
      : undefined;
if (obstacle !== undefined) console.info(`Index maps of CUDA kernels are not tested: ${obstacle}.`);
else if (!isSweep)
  console.info('Index maps that whole kernels are run for wait for `npm run sweep`.');

describe.skipIf(obstacle !== undefined)('index maps of CUDA kernels', async () => {
  if (obstacle !== undefined) return;
  const { status, stdout, stderr } = await start(await program(), []);
  const lines = stdout.trimEnd().split('\n');

  it('are all looked at, to the end', () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines.at(-1)).toBe('done');
    const parts = new Set(lines.flatMap((line) => /^(?:not )?ok (\w+):/.exec(line)?.[1] ?? []));
    expect([...parts].sort()).toEqual(
      [
        ...['chunk', 'fold', 'forest', 'fragment', 'panel', 'product', 'tile'],
        ...(isSweep ? ['offsets', 'parts', 'prefix', 'sort'] : []),
      ].sort(),
    );
  });

  for (const line of lines.filter((text) => text !== 'done')) {
    const [, isWrong, name, what] = /^(not )?ok ([^:]+: [^:]+)(?:: (.*))?$/.exec(line) ?? [];
    it(name ?? line, () => {
      expect(isWrong ? what : 'as it should be').toBe('as it should be');
    });
  }
});
