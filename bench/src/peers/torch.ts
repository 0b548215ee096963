/** PyTorch on the CPU, in one Python process for the whole run: `bench/peers/torch_ops.py`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startJsonLines } from './json-lines.ts';
import type { Peer, PeerArray, PeerTask } from './peer.ts';

/** An array in a file, for a process that does not share our memory. */
interface FiledArray {
  readonly path: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** @throws MissingError if this Python has no torch */
export async function torchPeer(python: string, threads: number): Promise<Peer> {
  const script = fileURLToPath(new URL('../../peers/torch_ops.py', import.meta.url));
  const torch = await startJsonLines(
    python,
    [script, '--threads', `${threads}`],
    'torch and numpy',
  );
  const folder = mkdtempSync(join(tmpdir(), 'saccade-bench-'));
  const file = (kind: string, arrays: PeerTask['inputs']): Record<string, FiledArray> =>
    Object.fromEntries(
      Object.entries(arrays).map(([name, { dtype, shape, data }]: [string, PeerArray]) => {
        const path = join(folder, `${kind}-${name}`);
        writeFileSync(path, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
        return [name, { path, dtype, shape }];
      }),
    );
  return {
    name: 'torch',
    version: `${String(torch.ready.version)}, ${threads} threads`,
    async prepare({ inputs, gradOutputs, ...task }) {
      const answer = await torch.ask({
        do: 'prepare',
        ...task,
        folder,
        inputs: file('input', inputs),
        gradOutputs: file('grad', gradOutputs),
      });
      if (typeof answer.missing === 'string') return answer.missing;
      const files = answer.results as Readonly<Record<string, FiledArray>>;
      const results: Record<string, Float32Array> = {};
      for (const [name, { path }] of Object.entries(files)) {
        const { buffer, byteOffset, byteLength } = readFileSync(path);
        results[name] = new Float32Array(
          buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer,
        );
      }
      return {
        results,
        time: async (launches) => (await torch.ask({ do: 'time', launches })).seconds as number,
        async dispose() {
          await torch.ask({ do: 'drop' });
        },
      };
    },
    async dispose() {
      await torch.close();
      rmSync(folder, { recursive: true });
    },
  };
}
