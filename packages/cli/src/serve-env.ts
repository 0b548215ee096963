/** `saccade serve env`: the environments of a recipe for other trainers. */
import { resolve } from 'node:path';
import { openEnvService, scoreWith } from '@saccade/env-service';
import {
  applySettings,
  inputOfRun,
  openPlayground,
  resolveRun,
  type Setting,
  scoringPartsOf,
} from '@saccade/train';
import { readConfigFile } from './config-file.ts';
import { type ListenFlags, listen } from './listen.ts';
import { findRecipe } from './recipe-arguments.ts';
import { openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ServeEnvFlags extends ListenFlags {
  readonly set: readonly Setting[];
  readonly config?: string;
  readonly split: 'train' | 'heldOut';
  readonly maxSessions: number;
  readonly idleSeconds: number;
}

export async function serveEnv(recipe: string, flags: ServeEnvFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const { input } = await findRecipe(recipe);
  const asked = resolveRun(applySettings(input, [...readConfigFile(flags.config), ...flags.set]));
  const { maxSessions, idleSeconds, split } = flags;
  const { rollout } = asked.config;
  // An environment keeps its session of the sandbox between steps: with fewer, all would wait.
  const concurrency = Math.max(rollout.concurrency, Math.ceil(maxSessions / 2));
  const resolved = resolveRun({ ...inputOfRun(asked), rollout: { ...rollout, concurrency } });
  // A reward that cannot be given to one trajectory is told before anything is opened.
  const scored = scoreWith(scoringPartsOf(resolved, resolve('.')));
  const { taskSet } = resolved.config;
  await listen(
    flags,
    async (listening) => {
      const playground = await openPlayground(resolved, {
        python: () => openPython(onEvent),
        onEvent,
      });
      try {
        return await openEnvService({
          ...{ ...listening, ...scored, maxSessions, idleSeconds, split },
          name: `${resolved.config.protocol.name} on ${taskSet.name}`,
          description: playground.taskSet.description,
          taskSet: playground.taskSet,
          makeEnv: playground.makeEnv,
          dispose: playground.dispose,
        });
      } catch (error) {
        await playground.dispose();
        throw error;
      }
    },
    ({ url }) => `Environments of ${recipe} at ${url}`,
  );
}
