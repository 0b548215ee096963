/** Runs a command in this process, which has its modules already. */
import { vi } from 'vitest';
import { main } from './main.ts';

export interface Said {
  /** What it printed, on both streams. */
  readonly output: string;
  readonly status: number;
}

export async function runHere(words: readonly string[]): Promise<Said> {
  const said: string[] = [];
  const write = (text: unknown) => {
    said.push(String(text));
    return true;
  };
  const before = process.exitCode;
  const spies = [
    vi.spyOn(process.stderr, 'write').mockImplementation(write),
    vi.spyOn(console, 'error').mockImplementation((...all) => write(`${all.join(' ')}\n`)),
    vi.spyOn(console, 'log').mockImplementation((...all) => write(`${all.join(' ')}\n`)),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    }),
  ];
  try {
    process.exitCode = undefined;
    await main(['node', 'saccade', ...words]);
    return { output: said.join(''), status: Number(process.exitCode ?? 0) };
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}
