/** Opens all places of a placement together, and closes them together. */
import type { ChosenTool, ToolHost } from '@saccade/tools';
import { namedToolOf, type PlacedProcess, type Placement } from '../placement.ts';
import { chooseTools, loadChoices } from './load-choices.ts';
import { openOwnPlace } from './own-place.ts';
import type { Place, PlaceEvents } from './place.ts';
import { openProcessPlace } from './process-place.ts';
import type { SandboxHub } from './sandbox-hub.ts';

export interface OpenPlacesOptions extends PlaceEvents {
  /** Tools in this process. */
  readonly chosen: readonly ChosenTool[];
  /** Tools that are named. */
  readonly placement?: Placement;
  /** Addresses of modules with tools, before those of the placement. */
  readonly modules: readonly string[];
  readonly host: ToolHost;
  /** The sandbox, for tools wherever they run. */
  readonly hub: SandboxHub;
  /** Pieces of work at a time of the tools in this process. */
  readonly ownSlots: number;
  readonly warmUpSeconds: number;
  /** Limit per image that a tool returns. */
  readonly maxPixels: number;
}

/**
 * Opens every place at the same time; they warm up afterwards.
 *
 * @throws ConfigError or what tools throw when they are opened; what was open is closed before
 */
export async function openPlaces(options: OpenPlacesOptions): Promise<readonly Place[]> {
  const { placement, host, hub, maxPixels, warmUpSeconds } = options;
  const answers = { python: () => host.python(), sandbox: () => hub.address() };
  const modules = [...options.modules, ...(placement?.modules ?? [])];
  const opening: Promise<Place>[] = (placement?.processes ?? []).map((process) =>
    openProcessPlace({
      ...{ modules, maxPixels, answers },
      ...placeEvents(options),
      ...processOptions(process),
    }),
  );
  const named = (placement?.own ?? []).map(namedToolOf);
  if (named.length + options.chosen.length > 0) opening.push(openOwn());
  const ended = await Promise.allSettled(opening);
  const places = ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed === undefined) return places;
  await Promise.all(places.map((place) => place.dispose()));
  throw failed.reason;

  async function openOwn(): Promise<Place> {
    const chosen = named.length === 0 ? [] : chooseTools(await loadChoices(modules), named);
    return await openOwnPlace({
      chosen: [...options.chosen, ...chosen],
      ...{ host, maxPixels, warmUpSeconds, slots: options.ownSlots, sandbox: hub.sandbox },
      ...placeEvents(options),
    });
  }
}

function placeEvents({ onRestart, onWarning }: PlaceEvents): PlaceEvents {
  return { ...(onRestart && { onRestart }), ...(onWarning && { onWarning }) };
}

/** A process of a placement, with the environment of each of its copies. */
function processOptions(process: PlacedProcess) {
  const { copies, environment, memoryMib, tools, ...rest } = process;
  const own = typeof copies === 'number' ? Array.from({ length: copies }, () => ({})) : copies;
  return {
    ...rest,
    tools: tools.map(namedToolOf),
    environments: own.map((added) => ({ ...environment, ...added })),
    ...(memoryMib !== undefined && { memoryMib }),
  };
}
