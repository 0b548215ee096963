/** Tools in the service's own process: nothing is copied, and what they break, they break for all. */
import { messageOf } from '@saccade/core';
import { type ChosenTool, openTools, type ToolContext, type ToolHost } from '@saccade/tools';
import { describeTool } from '../wire.ts';
import { AbandoningRunner } from './abandoning-runner.ts';
import type { Place, PlaceEvents } from './place.ts';
import { ToolRunner } from './tool-runner.ts';
import { warmUp } from './warm-up.ts';

export interface OwnPlaceOptions extends PlaceEvents {
  readonly chosen: readonly ChosenTool[];
  readonly host: ToolHost;
  /** Where tools run what they do to images. */
  readonly sandbox: ToolContext['sandbox'];
  /** Pieces of work at a time. */
  readonly slots: number;
  /** Limit per image that a tool returns. */
  readonly maxPixels: number;
  readonly warmUpSeconds: number;
}

const WARM_UP_PAUSE_MS = 5000;

/**
 * Opens tools in this process; they warm up afterwards.
 *
 * @throws as `openTools` does
 */
export async function openOwnPlace(options: OwnPlaceOptions): Promise<Place> {
  const { chosen, host, sandbox, slots, maxPixels, warmUpSeconds } = options;
  const open = await openTools(chosen, host);
  const tools = open.tools.map(describeTool);
  const calls = new AbandoningRunner(new ToolRunner({ tools: open.tools, sandbox }));
  let problem: string | undefined = 'The tools are warming up.';
  let retry: NodeJS.Timeout | undefined;
  let isDisposed = false;
  const warm = async (): Promise<void> => {
    try {
      await warmUp({
        ...{ tools, seconds: warmUpSeconds, maxPixels },
        run: (tool, one, onSettled) => calls.run(tool, one, onSettled),
      });
      problem = undefined;
    } catch (error) {
      problem = messageOf(error);
      options.onWarning?.(problem);
      if (!isDisposed) retry = setTimeout(warm, WARM_UP_PAUSE_MS);
    }
  };
  const warming = warm();
  return {
    name: 'own',
    ...{ tools, slots },
    problem: () => problem,
    run: (tool, placed, onSettled) => calls.run(tool, placed, onSettled),
    async dispose() {
      isDisposed = true;
      clearTimeout(retry);
      await open.dispose();
      await Promise.race([warming, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
    },
  };
}
