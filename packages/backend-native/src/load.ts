/** Opens the native addon, or explains why it cannot be opened here, with a remedy. */
import { MissingError } from '@saccade/core';
import { type Addon, type InstructionSet, type LoadResult, loadAddon } from '@saccade/native';

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
  /** `wrong-platform`: the file is an addon of another system or processor. */
  readonly reason: 'not-built' | 'wrong-platform' | 'load-failed';
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
  switch (reason) {
    case 'not-built':
      return (
        `The native addon has not been built: ${path} does not exist. ` +
        'Run `npm run build` at the root of the clone; it needs cmake and a C++17 compiler.'
      );
    case 'wrong-platform':
      return (
        `The native addon at ${path} was built for another system ` +
        `(this is ${process.platform}-${process.arch}): ${detail}. ` +
        'Delete native/build and run `npm run build`, or install the package again here.'
      );
    case 'load-failed':
      return (
        `The native addon at ${path} cannot be loaded: ${detail}. ` +
        'Delete native/build and run `npm run build`, or install the package again.'
      );
  }
}
