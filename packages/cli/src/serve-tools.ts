/** `saccade serve tools`: tools for runs on other machines, and for other trainers. */
import { ConfigError } from '@saccade/core';
import { loadPlacement, openToolService, type PlacementInput } from '@saccade/tool-service/service';
import { tools as known } from '@saccade/tools';
import { visionTools } from '@saccade/vision-tools';
import { type ListenFlags, listen } from './listen.ts';
import { openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ServeToolsFlags extends ListenFlags {
  readonly tools?: readonly string[];
  readonly placement?: string;
  readonly timeoutSeconds: number;
  readonly maxQueued: number;
  readonly cacheMib: number;
  readonly maxMib: number;
  readonly maxMegapixels: number;
  readonly images?: string;
}

const MIB = 2 ** 20;

/** The tools, placements, and examples. */
export function serveToolsHelp(): string {
  return `
Tools: ${known.names.join(', ')}.
Visual tools, served where they are named: ${visionTools.names.join(', ')}.

Endpoints:
  GET  /v1/tools                   names, schemas, versions
  POST /v1/tools/{name}, /v1/batch calls, for tools=remote of a run
  POST /get_observation            verl-tool's
  GET  /health, /ready             up; every tool has answered a first call
  GET  /metrics, /openapi.json     Prometheus; OpenAPI 3.1

A placement puts tools into processes. One that crashes or hangs is started again, and no other
call is lost:
  {
    "modules": ["./my-tools.ts"],
    "processes": [
      {"name": "look", "tools": ["image_zoom_in_tool"], "copies": 2},
      {"name": "mine", "tools": [{"name": "my_tool", "size": "large"}], "memoryMib": 8192,
       "copies": [{"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"}]}
    ],
    "own": ["image_flip_tool"],
    "tools": {"my_tool": {"maxBatch": 16, "maxWaitMs": 10, "timeoutSeconds": 120}}
  }
Modules export tools, made with defineTool or defineToolUnit of @saccade/tools.

Examples:
  saccade serve tools
  saccade serve tools --tools image_zoom_in_tool,easyocr,chartmoe
  SACCADE_TOOLS_TOKEN=$(openssl rand -hex 32) saccade serve tools --host 0.0.0.0
  saccade train --set protocol=vista --set tools=remote \\
    --set tools.remote.url=http://10.0.0.5:8720

Ctrl-C or SIGTERM lets running calls finish; a second one stops at once.`;
}

/** Modules whose exports are the tools that can be named. */
function toolModules(): readonly string[] {
  return ['@saccade/tools', '@saccade/tool-service', '@saccade/vision-tools'].map((name) =>
    import.meta.resolve(name),
  );
}

export async function serveTools(flags: ServeToolsFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const placement = await placementOf(flags);
  await listen(
    flags,
    (listening) =>
      openToolService({
        ...{ placement, modules: toolModules(), python: () => openPython(onEvent) },
        cacheBytes: flags.cacheMib * MIB,
        maxBytes: flags.maxMib * MIB,
        maxPixels: flags.maxMegapixels * 1_000_000,
        ...(flags.images !== undefined && { imageFolder: flags.images }),
        onError: console.error,
        ...listening,
      }),
    ({ url, names: served }) => `Tools at ${url} (${served.join(', ')})`,
  );
}

/** The placement of the file, with the tools and limits of the command line beneath its own. */
async function placementOf(flags: ServeToolsFlags): Promise<PlacementInput> {
  const { placement: file, tools, timeoutSeconds, maxQueued } = flags;
  const limits = { timeoutSeconds, maxQueued };
  if (file === undefined) return { own: [...(tools ?? known.names)], limits };
  const placement = await loadPlacement(file);
  if (tools !== undefined) {
    throw new ConfigError(
      'tools',
      '--tools and --placement both say which tools there are. Name them in the placement alone.',
    );
  }
  return { ...placement, limits: { ...limits, ...placement.limits } };
}
