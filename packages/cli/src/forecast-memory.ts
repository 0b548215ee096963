/** `saccade doctor --policy`: the memory that a run takes, part by part, and whether it is there. */
import { existsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { probeCuda } from '@saccade/backend-native';
import type { MemoryForecast } from '@saccade/policy/models';
import {
  applySettings,
  contextsOf,
  findRemedy,
  forecastRun,
  parseSetting,
  type ResolvedRun,
  resolveRun,
  type Setting,
} from '@saccade/train';
import { readConfigFile } from './config-file.ts';
import { printJson } from './json.ts';
import { findRecipe } from './recipe-arguments.ts';
import { terminalProgress } from './terminal-progress.ts';

/** The flags of the forecast. */
export interface ForecastFlags {
  /** Changes of the recipe, `path=value` each. */
  readonly set?: readonly string[];
  /** A file of settings, before those of `set`. */
  readonly config?: string;
  /** `1024x768`. */
  readonly imageSize: { readonly width: number; readonly height: number };
  /** GiB; default: what the run's device has. */
  readonly memory?: number;
  readonly json?: boolean;
}

/** What the process of a run takes beside its device: code, tokenizer, trajectories. */
const PROCESS_BYTES = 300 * 2 ** 20;

const PARTS: readonly (readonly [keyof MemoryForecast, string])[] = [
  ['weights', 'the model'],
  ['adapter', 'low-rank adapters'],
  ['reference', 'a copy of the model for the log-probs of the reference'],
  ['sampleWeights', 'quantized weights that samples are drawn with'],
  ['gradients', 'of what trains'],
  ['moments', 'the optimizer’s state'],
  ['cache', 'keys and values of the contexts that are sampled'],
  ['activations', 'of a micro-batch, or of a pass of the sampler'],
  ['images', 'activations of the images of a micro-batch'],
];

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`;

/** The recipe of a checkpoint that is asked about alone. */
const RECIPE = 'pyvision-image-nano';

/** Prints the forecast of a recipe or a checkpoint; exit status 1 if it does not fit. */
export async function forecastMemory(named: string, flags: ForecastFlags): Promise<void> {
  const isCheckpoint = named.startsWith('hf:') || existsSync(join(named, 'config.json'));
  const { input } = await findRecipe(isCheckpoint ? RECIPE : named);
  const checkpoint = ['model=pretrained', `model.from=${named}`];
  const settings = [
    ...(isCheckpoint ? checkpoint.map(parseSetting) : []),
    ...readConfigFile(flags.config),
    ...(flags.set ?? []).map(parseSetting),
  ];
  const run = resolveRun(applySettings(input, settings));
  const { imageSize: image } = flags;
  const options = { image, onEvent: terminalProgress({ stream: process.stderr }) };
  const forecast = await forecastRun(run, options);
  const available = availableTo(run, flags.memory);
  const needed = neededBy(forecast, available);
  const { bytes = Number.POSITIVE_INFINITY } = available;
  const fits = needed <= bytes;
  const remedy = fits
    ? undefined
    : await findRemedy(run, options, (other) => neededBy(other, available) <= bytes);
  if (!fits) process.exitCode = 1;
  if (flags.json) {
    const settings = remedy?.settings.map(({ path, value }) => [path, value]) ?? [];
    const would = remedy && { set: Object.fromEntries(settings), ...remedy.forecast };
    printJson({ ...forecast, needed, available: available.bytes, fits, remedy: would });
    return;
  }
  printParts(run, image, forecast);
  const has = `${available.what} has ${gibibytes(bytes)}`;
  if (available.bytes === undefined) {
    console.log(`     It needs ${gibibytes(needed)}; ${available.what} does not tell what it has.`);
  } else if (fits) {
    console.log(`yes  It needs ${gibibytes(needed)}; ${has}.`);
  } else {
    const would =
      remedy === undefined
        ? 'No setting of its own makes it fit: take a smaller model or a larger machine.'
        : `It would fit with ${remedy.settings.map(formatSetting).join(' ')}: ` +
          `${gibibytes(neededBy(remedy.forecast, available))}.`;
    console.log(`no   It needs ${gibibytes(needed)}; ${has}. ${would}`);
  }
}

function printParts(
  run: ResolvedRun,
  image: ForecastFlags['imageSize'],
  forecast: MemoryForecast,
): void {
  const { config } = run;
  console.log(
    `Memory of ${config.model.name} in ${config.recipe}: micro-batches of ` +
      `${config.packing.microBatchTokens} tokens, ${contextsOf(run)} contexts of ` +
      `${config.rollout.maxContextTokens}, images of ${image.width}x${image.height}.`,
  );
  const rows = [...PARTS, ['total', 'allocated at a time'] as const];
  const width = Math.max(...rows.map(([part]) => part.length));
  for (const [part, about] of rows) {
    const bytes = forecast[part];
    if (bytes === 0 && part !== 'total') continue;
    console.log(`  ${part.padEnd(width)}  ${gibibytes(bytes).padStart(12)}  ${about}`);
  }
}

const formatSetting = ({ path, value }: Setting): string => `--set ${path}=${String(value)}`;

interface Available {
  readonly what: string;
  readonly bytes: number | undefined;
  /** Whether the process of the run is in the same memory. */
  readonly isHost: boolean;
}

/** Freed memory stays with the device for its next use, so that is what has to be there. */
function neededBy({ held }: MemoryForecast, { isHost }: Available): number {
  return isHost ? held + PROCESS_BYTES : held;
}

/** The memory that the device of a run has. */
function availableTo({ config }: ResolvedRun, given: number | undefined): Available {
  const { name } = config.backend;
  const isHost = name !== 'cuda' && name !== 'webgpu';
  if (given !== undefined) return { what: '--memory', bytes: given * 2 ** 30, isHost };
  if (name === 'cuda') {
    const cuda = probeCuda();
    const devices = cuda.available ? cuda.devices : [];
    const index = typeof config.backend.device === 'number' ? config.backend.device : 0;
    const device = devices.find((one) => one.index === index);
    return { what: device?.name ?? 'cuda', bytes: device?.memoryBytes, isHost };
  }
  if (name === 'webgpu') return { what: 'webgpu', bytes: undefined, isHost };
  return { what: 'this machine', bytes: freeBytes(), isHost };
}

/** Memory that is free, or would be: caches of files count as free. */
function freeBytes(): number {
  return process.availableMemory?.() ?? freemem();
}
