/** PyTorch, in one Python process for the whole run: `bench/peers/torch_ops.py`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Answer, startJsonLines } from './json-lines.ts';
import { readBytes, writeBytes } from './large-files.ts';
import type { Peer, PeerArray, PeerRun, PeerTask } from './peer.ts';

export interface TorchOptions {
  readonly threads: number;
  /** Default `cpu`. On `cuda` launches are timed by CUDA's events. */
  readonly device?: 'cpu' | 'cuda';
  /** For an answer; a process that takes longer is ended. */
  readonly limitSeconds?: number;
}

/** A Python process with torch. Its peers may have runs side by side, all on one device. */
export interface TorchProcess {
  /** Version of torch, and whatever else it says of itself: device, cuda, cudnn. */
  readonly about: Answer;
  /** @param variant  one of `bench/peers/torch_variants.py`; without one, what most people write */
  peer(name: string, variant?: string): Peer;
  hasEnded(): boolean;
  close(): Promise<void>;
}

/** An array in a file, for a process that does not share our memory. */
interface FiledArray {
  readonly path: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** @throws MissingError if this Python has no torch, or torch no such device */
export async function startTorch(
  python: string,
  { threads, device = 'cpu', limitSeconds }: TorchOptions,
): Promise<TorchProcess> {
  const script = fileURLToPath(new URL('../../peers/torch_ops.py', import.meta.url));
  const torch = await startJsonLines(
    python,
    [script, '--threads', `${threads}`, '--device', device],
    'torch and numpy',
    limitSeconds,
  );
  const folder = mkdtempSync(join(tmpdir(), 'saccade-bench-'));
  const filed = new FiledArrays(folder);
  let latest = 0;
  const prepare = async (
    { inputs, gradOutputs, ...task }: PeerTask,
    variant: string | undefined,
  ): Promise<PeerRun | string> => {
    const run = ++latest;
    const answer = await torch.ask({
      do: 'prepare',
      run,
      variant,
      ...task,
      folder,
      inputs: filed.write('input', inputs),
      gradOutputs: filed.write('grad', gradOutputs),
    });
    if (typeof answer.missing === 'string') return answer.missing;
    return {
      results: readResults(answer.results as Readonly<Record<string, FiledArray>>),
      ...(typeof answer.note === 'string' && { note: answer.note }),
      time: async (launches) => (await torch.ask({ do: 'time', run, launches })).seconds as number,
      async dispose() {
        await torch.ask({ do: 'drop', run });
      },
    };
  };
  const where = device === 'cuda' ? String(torch.ready.device) : `${threads} threads`;
  const version = `${String(torch.ready.version)}, ${where}`;
  return {
    about: torch.ready,
    peer: (name, variant) => ({
      name,
      version,
      prepare: (task) => prepare(task, variant),
      async dispose() {},
    }),
    hasEnded: () => torch.hasEnded(),
    async close() {
      await torch.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The only peer of a process of its own. @throws as {@link startTorch} */
export async function torchPeer(python: string, threads: number): Promise<Peer> {
  const torch = await startTorch(python, { threads });
  return { ...torch.peer('torch'), dispose: () => torch.close() };
}

/** Files of the arrays of the latest task, written once however many peers take them. */
class FiledArrays {
  readonly #folder: string;
  readonly #latest = new Map<string, { of: PeerTask['inputs']; files: FiledFiles }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  write(kind: string, arrays: PeerTask['inputs']): FiledFiles {
    const latest = this.#latest.get(kind);
    if (latest?.of === arrays) return latest.files;
    const files = Object.fromEntries(
      Object.entries(arrays).map(([name, { dtype, shape, data }]: [string, PeerArray]) => {
        const path = join(this.#folder, `${kind}-${name}`);
        writeBytes(path, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
        return [name, { path, dtype, shape }];
      }),
    );
    this.#latest.set(kind, { of: arrays, files });
    return files;
  }
}

type FiledFiles = Readonly<Record<string, FiledArray>>;

function readResults(files: FiledFiles): Readonly<Record<string, Float32Array>> {
  return Object.fromEntries(
    Object.entries(files).map(([name, { path }]) => [name, new Float32Array(readBytes(path))]),
  );
}
