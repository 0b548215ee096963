/** Environments on the real sandbox, served, for the tests of this package. */
import { join } from 'node:path';
import { createToolEnv, needle, type Protocol, pyvisionImageShort } from '@saccade/gym';
import { exact, presets, termsOf } from '@saccade/rewards';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import type { ServedEnvironments } from './environments.ts';
import { scoreWith } from './score-with.ts';
import { type EnvServiceOptions, openEnvService } from './service.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

export async function openTestSandbox(): Promise<LocalSandbox> {
  const { python } = await ensurePython(environment);
  return await openSandbox({ python });
}

export function needleEnvironments(
  sandbox: LocalSandbox,
  protocol: Protocol = pyvisionImageShort,
): ServedEnvironments {
  const terms = termsOf(presets.get('pyvision'));
  return {
    name: 'needle',
    description: 'A digit to find.',
    taskSet: needle,
    makeEnv: () => createToolEnv({ protocol, sandbox }),
    ...scoreWith({ scoring: { verifier: exact, terms } }),
  };
}

export const serveNeedles = (sandbox: LocalSandbox, options: Partial<EnvServiceOptions> = {}) =>
  openEnvService({ ...needleEnvironments(sandbox), onFault: () => {}, ...options });

/** Turns in the words of the protocol. */
export const look =
  '<code>\n```python\nimage_clue_0.crop((0, 0, 56, 56)).show()\nprint("seen")\n```\n</code>';
export const answerOf = (text: string): string => `<answer>\n\\boxed{${text}}\n</answer>`;
