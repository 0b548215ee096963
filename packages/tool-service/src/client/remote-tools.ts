/** Tools of a service as tools of this process. */
import { ConfigError, nearestName } from '@saccade/core';
import type { OpenTools, Tool, ToolImage } from '@saccade/tools';
import { canonicalJson } from '../canonical-json.ts';
import { type DescribedTool, versionOf } from '../wire.ts';
import { holdConnection } from './shared-connection.ts';
import type { SentCall, ToolConnection, ToolConnectionOptions } from './tool-connection.ts';

/** The tools wanted from a service, and how to ask it. */
export interface RemoteToolsOptions extends ToolConnectionOptions {
  /** Names of the tools, or `name@version`; all of the service's where it is absent or empty. */
  readonly names?: readonly string[];
  /**
   * Tools as this side knows them: the service must have each with the same arguments, and with the
   * same version where this side says one. They come before those of `names`.
   */
  readonly expected?: readonly Pick<Tool, 'name' | 'parameters' | 'version'>[];
}

type SentImage = NonNullable<SentCall['images']>[number];

/**
 * Asks a service what tools it has, and makes tools of them: each call is one request.
 *
 * A call sends all images of its context, and the version that was read here: a service that has
 * another one by then refuses it. What is wrong with the arguments is an outcome, as with tools of
 * this process.
 *
 * @param owner whose tools of one service share connections, batches and limits, e.g. the host of a run
 * @throws ConfigError if the service lacks a tool, or has another version of it; MissingError if it does
 *   not answer
 */
export async function remoteTools(options: RemoteToolsOptions, owner?: object): Promise<OpenTools> {
  const { connection, release } = holdConnection(options, owner);
  try {
    const known = await connection.describe();
    const wanted = wantedTools(known, options, connection.url);
    return { tools: wanted.map((tool) => remoteTool(connection, tool)), dispose: release };
  } catch (error) {
    await release();
    throw error;
  }
}

function wantedTools(
  known: readonly DescribedTool[],
  { names = [], expected = [] }: RemoteToolsOptions,
  url: string,
): readonly DescribedTool[] {
  const find = (name: string): DescribedTool => {
    const tool = known.find((one) => one.name === name);
    if (tool !== undefined) return tool;
    const all = known.map((one) => one.name);
    const near = nearestName(name, all);
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
    throw new ConfigError(
      'names',
      `The service at ${url} has no tool "${name}". It has: ${all.join(', ') || 'none'}.${hint}`,
    );
  };
  const checked = expected.map((own) => {
    const tool = find(own.name);
    if (own.version !== undefined) checkVersion(tool, own.version, url);
    if (canonicalJson(own.parameters) === canonicalJson(tool.parameters)) return tool;
    const versions = `${tool.version} there, ${versionOf(own)} here`;
    throw new ConfigError(
      'url',
      `The tool ${own.name} at ${url} takes other arguments than this side knows (version ` +
        `${versions}). Use the same release of Saccade on both sides.`,
    );
  });
  const named = names.map((text) => {
    const [name = '', version] = text.split('@', 2);
    const tool = find(name);
    if (version !== undefined) checkVersion(tool, version, url);
    return tool;
  });
  return names.length + expected.length === 0 ? known : [...checked, ...named];
}

function checkVersion({ name, version }: DescribedTool, wanted: string, url: string): void {
  if (version === wanted) return;
  throw new ConfigError(
    'names',
    `The tool ${name} at ${url} is version ${version}, and version ${wanted} is wanted. Start a ` +
      'service that has it, or ask for the other one.',
  );
}

function remoteTool(connection: ToolConnection, described: DescribedTool): Tool {
  const { name, version, takesBatches: _, ...rest } = described;
  return {
    ...rest,
    ...{ name, version },
    async call(given, { images, signal }) {
      const call = { tool: name, version, arguments: { ...given }, images: images.map(imageJson) };
      return await connection.call(call, signal);
    },
  };
}

function imageJson({ name, png, origin }: ToolImage): SentImage {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  return {
    ...{ name, png: bytes.toString('base64') },
    ...(origin && { origin: { image: origin.image, map: [...origin.map] } }),
  };
}
