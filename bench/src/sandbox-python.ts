/** The Python environment of the sandbox, as the set-up makes it. */
import { fileURLToPath } from 'node:url';
import { ensurePython } from '@saccade/sandbox';

export async function sandboxPython(): Promise<string> {
  const venv = fileURLToPath(new URL('../../.cache/sandbox-venv', import.meta.url));
  return (await ensurePython(venv)).python;
}
