/** The first thing every op benchmark opens: the device, the machine's ceilings, the peers. */
import { availableParallelism } from 'node:os';
import { type InstructionSet, nativeBackend } from '@saccade/backend-native';
import { ConfigError, type DType } from '@saccade/core';
import { type Backend, type Device, openDevice, referenceBackend } from '@saccade/ops';
import { allOps, storageTypes } from './catalog-ops.ts';
import { type Ceilings, MEMORY_BYTES, nativeCeilings } from './ceilings.ts';
import { type Provenance, provenance } from './machine.ts';
import { openWebGpu } from './open-webgpu.ts';
import type { BrowserPeers } from './peers/browser-peers.ts';
import {
  type IsWanted,
  missingPeers,
  type OpenPeers,
  openProcessorPeers,
  openWebGpuPeers,
  parsePeers,
} from './peers/open-peers.ts';
import type { Peer } from './peers/peer.ts';
import type { Ceiling } from './roofline.ts';
import { threeDigits } from './units.ts';

export interface RunSettings {
  readonly backend: string;
  readonly isa?: string;
  readonly threads?: number;
  /** Names, comma between; true: all that there are. */
  readonly peers?: true | string;
  readonly python?: string;
  /** The command line, for the record. */
  readonly args: readonly string[];
}

type Peak = Readonly<Record<'f32' | 'bf16', Ceiling>>;

export interface OpenRun {
  readonly device: Device;
  /** Absent where no peak can be measured. */
  readonly ceilings?: Ceilings;
  readonly peers: readonly Peer[];
  /** Peers of this backend that live in a browser. */
  readonly browser?: BrowserPeers;
  /** Storage types worth asking this device for; absent: all that an op has. */
  readonly dtypes?: readonly DType[];
  /** Whether a processor plays the device, and large shapes would take minutes. */
  readonly isSlow: boolean;
  /** The head of what is written with --json. */
  record(): Provenance & { readonly backend: string; readonly peak?: Peak };
  /** Describes the run for people: machine, peers. */
  readonly heading: string;
  /** The machine's peaks, for people; measured again, so that the better of two counts. */
  peaks(): string;
  dispose(): Promise<void>;
}

/** @throws ConfigError or MissingError before any work */
export async function openRun(settings: RunSettings): Promise<OpenRun> {
  const threads = settings.threads ?? availableParallelism();
  const isWanted = settings.peers === undefined ? undefined : parsePeers(settings.peers);
  const open = await openBackend(settings, threads);
  const { ceilings } = open;
  const device = openDevice(open.backend);
  const measurePeak = (): Peak | undefined =>
    ceilings && {
      f32: ceilings.of('f32', MEMORY_BYTES),
      bf16: ceilings.of('bf16', MEMORY_BYTES),
    };
  const found: OpenPeers =
    isWanted === undefined ? { peers: [], absent: [] } : await open.openPeers(isWanted);
  const { peers, browser } = found;
  const absent = [...found.absent, ...missingPeers(settings.peers, found)];
  const versions: Readonly<Record<string, string>> = {
    ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    ...browser?.versions,
  };
  const start = { ...provenance(settings.args, versions), backend: device.backend.description };
  const { machine, commit } = start;
  const lines = [
    `${machine.processor}, ${machine.processors} processors, ${machine.memoryGiB} GiB, ` +
      `${machine.system}; ${device.backend.description}; commit ${commit}`,
    ...Object.entries(versions).map(([name, version]) => `peer: ${name} ${version}`),
    ...absent.map((why) => `no peer: ${why}`),
    ...(open.notes ?? []),
  ];
  // At the start as well: the better of two measurements counts.
  measurePeak();
  return {
    device,
    ...(ceilings && { ceilings }),
    ...(open.dtypes && { dtypes: open.dtypes }),
    isSlow: open.isSlow ?? false,
    peers,
    ...(browser && { browser }),
    record() {
      const peak = measurePeak();
      return { ...start, ...(peak && { peak }) };
    },
    heading: lines.join('\n'),
    peaks() {
      ceilings?.measureAgain(MEMORY_BYTES);
      const peak = measurePeak();
      return peak === undefined ? 'no peak is known for this backend' : describePeak(peak);
    },
    async dispose() {
      for (const peer of peers) await peer.dispose();
      await browser?.dispose();
      device.dispose();
    },
  };
}

/** The parts of a run that depend on the backend. */
interface OpenBackend extends Pick<OpenRun, 'ceilings' | 'dtypes'> {
  readonly backend: Backend;
  readonly isSlow?: boolean;
  /** Sentences for people. */
  readonly notes?: readonly string[];
  openPeers(isWanted: IsWanted): Promise<OpenPeers>;
}

async function openBackend(settings: RunSettings, threads: number): Promise<OpenBackend> {
  const openPeers = (isWanted: IsWanted): Promise<OpenPeers> =>
    openProcessorPeers(isWanted, settings.python, threads);
  switch (settings.backend) {
    case 'native': {
      const isa = settings.isa as InstructionSet | undefined;
      const backend = nativeBackend({ threads, ...(isa && { isa }) });
      return { backend, ceilings: nativeCeilings(isa, threads), openPeers };
    }
    case 'reference':
      return { backend: referenceBackend(), openPeers };
    case 'webgpu': {
      const { backend, adapter } = await openWebGpu();
      const hasHalves = adapter.features.includes('shader-f16');
      return {
        backend,
        dtypes: hasHalves ? ['f32', 'f16'] : ['f32'],
        isSlow: adapter.isSoftware,
        notes: hasHalves ? [] : ['no f16: the adapter has no shader-f16'],
        openPeers: (isWanted) => openWebGpuPeers(isWanted, threads, adapter.isSoftware),
      };
    }
    default:
      throw new ConfigError(
        'backend',
        `--backend is "${settings.backend}". Pass native, webgpu or reference.`,
      );
  }
}

function describePeak({ f32, bf16 }: { f32: Ceiling; bf16: Ceiling }): string {
  const rate = ({ flops }: Ceiling): string => `${threeDigits(flops / 1e9)} GFLOP/s`;
  return `peak measured in this run: ${rate(f32)} f32, ${rate(bf16)} bf16, memory read ${threeDigits(f32.bytes / 1e9)} GB/s`;
}

/** Storage types given on the command line. @throws ConfigError naming the known ones */
export function parseDtypes(text: string | undefined): readonly DType[] | undefined {
  if (text === undefined) return undefined;
  const known = [...new Set(allOps.flatMap(storageTypes))];
  return text.split(',').map((name) => {
    const found = known.find((dtype) => dtype === name.trim());
    if (found !== undefined) return found;
    throw new ConfigError('dtype', `--dtype is "${name}". Pass some of ${known.join(', ')}.`);
  });
}
