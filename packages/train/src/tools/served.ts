/** A tool unit: tools of this machine behind a service of their own, called over HTTP. */
import { ConfigError, defineRegistry, type Registry } from '@saccade/core';
import { count, readSettings, textList } from '@saccade/core/settings';
import { remoteTools } from '@saccade/tool-service';
import {
  type ChosenTool,
  defineToolUnit,
  describeTools,
  imageTools,
  type OpenTools,
  type ToolChoice,
  type ToolHost,
  toolSettings,
  tools,
} from '@saccade/tools';
import { visionTools } from '@saccade/vision-tools';
import { z } from 'zod';

const MIB = 2 ** 20;
/** Calls that still run when a run ends have nobody waiting for them. */
const GRACE_SECONDS = 1;

const settings = z.strictObject({
  names: textList({
    unit: 'names',
    about: 'Which tools are served, at their own defaults; none: those for images alone.',
  }),
  timeoutSeconds: count({
    ...{ min: 1, max: 86_400, default: 60, unit: 'seconds' },
    about: 'Longest call, with all its tries.',
  }),
  cacheMib: count({
    ...{ min: 0, max: 65_536, default: 256, unit: 'MiB' },
    about: 'Remembered answers of deterministic tools; 0 for none.',
  }),
});

/** The tools that can be served by name. */
function servable(): Registry<ToolChoice> {
  return defineRegistry<ToolChoice>(
    'tool',
    Object.fromEntries<ToolChoice>([...tools.entries(), ...visionTools.entries()]),
  );
}

function chosen(names: readonly string[]): readonly ChosenTool[] {
  const known = servable();
  const all = names.length === 0 ? imageTools.map(({ name }) => name) : names;
  return all.map((name) => {
    if (!known.has(name)) {
      const list = known.names.join(', ');
      throw new ConfigError(
        'tools.served.names',
        `tools.served.names: there is no tool "${name}". Known: ${list}.`,
      );
    }
    const choice = known.get(name);
    return { choice, settings: readSettings(`tools.${name}`, toolSettings(choice), {}) };
  });
}

/**
 * Starts the service of `saccade serve tools` on a free port of the loopback and calls it like one on
 * another machine, so that a run has deadlines, retries and remembered answers without a second
 * command. `remote` calls a service that runs already.
 */
export const served = defineToolUnit({
  name: 'served',
  description: 'Tools of this machine behind a service that the run starts, called over HTTP.',
  settings,
  describe: ({ names }) => describeTools(chosen(names)),
  async open({ names, timeoutSeconds, cacheMib }, host: ToolHost): Promise<OpenTools> {
    const all = chosen(names);
    const { openToolService } = await import('@saccade/tool-service/service');
    const service = await openToolService({
      tools: all,
      placement: { limits: { timeoutSeconds, runSeconds: timeoutSeconds } },
      python: () => host.python(),
      cacheBytes: cacheMib * MIB,
      onEvent: host.onEvent,
    });
    try {
      const { tools, dispose } = await remoteTools({ url: service.url, timeoutSeconds }, host);
      return {
        tools,
        async dispose() {
          await dispose();
          await service.drain(GRACE_SECONDS);
        },
      };
    } catch (error) {
      await service.drain(GRACE_SECONDS);
      throw error;
    }
  },
});
