/** Opens the native addon, or explains why it cannot be opened here, with a remedy. */
import { existsSync } from 'node:fs';
import { MissingError } from '@saccade/core';
import {
  type Addon,
  type InstructionSet,
  type LoadResult,
  loadAddon,
  platformPackage,
} from '@saccade/native';

/** The native addon can be loaded: what this processor and this build offer. */
export interface NativeAvailable {
  readonly available: true;
  /** Path of the addon's file. */
  readonly path: string;
  /** Instruction sets that this processor can run, slowest first; the last is the default. */
  readonly instructionSets: readonly InstructionSet[];
  /** Instruction sets that run in emulation, for tests. They are never chosen by default. */
  readonly emulated: readonly InstructionSet[];
  /** Ids of the kernels built into the addon. */
  readonly kernels: readonly string[];
}

/** The native addon cannot be loaded, with the reason and the remedy. */
export interface NativeUnavailable {
  readonly available: false;
  /** Path that was tried. */
  readonly path: string;
  /**
   * `wrong-platform`: the file is an addon of another system or architecture. `other-processor`: this
   * one lacks the instructions of all its kernels.
   */
  readonly reason: 'not-built' | 'wrong-platform' | 'other-processor' | 'load-failed';
  /** The reason and the remedy, in sentences. */
  readonly message: string;
}

/** Whether the native backend can be opened here; never throws. */
export function probeNative(path?: string): NativeAvailable | NativeUnavailable {
  const loaded = loadAddon(path);
  if (!loaded.ok) {
    return {
      available: false,
      path: loaded.path,
      reason: loaded.reason,
      message: explain(loaded),
    };
  }
  const instructionSets = loaded.addon.usableInstructionSets();
  const runtime = new loaded.addon.Runtime(instructionSets.at(-1) ?? 'generic', 1, false);
  const kernels = runtime.kernels().map((kernel) => kernel.id);
  runtime.close();
  const emulated = loaded.addon.emulatedInstructionSets();
  return { available: true, path: loaded.path, instructionSets, emulated, kernels };
}

/** Opens the addon. @throws MissingError with the reason and the remedy if that fails */
export function openAddon(path?: string): Addon {
  const loaded = loadAddon(path);
  if (loaded.ok) return loaded.addon;
  throw new MissingError(explain(loaded));
}

/** The reason why the addon could not be opened, and the remedy. */
export function explain({ reason, path, detail }: Exclude<LoadResult, { ok: true }>): string {
  const here = `${process.platform}-${process.arch}`;
  switch (reason) {
    case 'not-built':
      return isInstalled(path)
        ? `There is no native addon for ${here} here. ${remedyFor(path)}`
        : `The native addon has not been built: ${path} does not exist. ${remedyFor(path)}`;
    case 'wrong-platform':
      return (
        `The native addon at ${path} was built for another system (this is ${here}): ${detail}. ` +
        remedyFor(path)
      );
    case 'other-processor':
      return `The native addon at ${path} was built on another machine: ${detail}. ${remedyFor(path)}`;
    case 'load-failed':
      return `The native addon at ${path} cannot be loaded: ${detail}. ${remedyFor(path)}`;
  }
}

/** Whether a file is one that npm installed; in a clone, commands differ. */
export function isInstalled(path: string): boolean {
  return path.split(/[\\/]/).includes('node_modules');
}

/** How to get an addon that loads: in a sentence. */
function remedyFor(path: string): string {
  if (!isInstalled(path)) {
    const start = existsSync(path) ? 'Delete native/build and run' : 'Run';
    return `${start} \`npm run build\` at the root of the clone; it needs cmake and a C++17 compiler.`;
  }
  const prebuilt = platformPackage();
  const build =
    'build it, which needs cmake and a C++17 compiler: `npm install cmake-js@8 node-addon-api@8`, then ' +
    '`npx saccade-build-native`.';
  if (prebuilt === undefined) return `No package has one, so ${build}`;
  return `Run \`npm install ${prebuilt}\`, or ${build}`;
}
