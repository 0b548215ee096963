/** `saccade doctor`: what this machine has, and why the rest is unusable. */
import { statfsSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { describeDevice, probeCuda, probeNative } from '@saccade/backend-native';
import { probeWebGpu } from '@saccade/backend-webgpu';
import { messageOf } from '@saccade/core';
import { probeSandbox, type TierProbe } from '@saccade/sandbox';
import type { EngineFlags } from './examine-engine.ts';
import type { ForecastFlags } from './forecast-memory.ts';
import { printJson } from './json.ts';
import { columnsOf, fold } from './say.ts';
import { openPython, pythonDirectory } from './shared.ts';

interface Finding {
  readonly what: string;
  readonly isUsable: boolean;
  readonly detail: string;
}

/** Prints what the machine has, or what the flags ask of an engine or of a policy's memory. */
export async function examine(flags: DoctorFlags): Promise<void> {
  if (flags.policy !== undefined) {
    const { forecastMemory } = await import('./forecast-memory.ts');
    return await forecastMemory(flags.policy, flags);
  }
  if (flags.engine !== undefined) {
    // Imported only here: the checks of a machine do not need the code that reads images.
    const { examineEngine } = await import('./examine-engine.ts');
    return await examineEngine(flags.engine, flags);
  }
  const findings = [...machine(), ...(await backends()), ...(await sandbox())];
  if (flags.json) printJson(findings);
  else for (const line of table(findings)) console.log(line);
  if (!findings.every(({ what, isUsable }) => isUsable || !required.has(what))) {
    process.exitCode = 1;
  }
}

/** One finding a line, its detail folded below itself where the terminal is narrower. */
function table(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const indent = ' '.repeat(width + 7);
  const columns = columnsOf(process.stdout) - indent.length;
  return findings.flatMap(({ what, isUsable, detail }) => {
    const [first = '', ...rest] = fold(detail, columns);
    const line = `${isUsable ? 'yes' : 'no '}  ${what.padEnd(width)}  ${first}`;
    return [line, ...rest.map((part) => indent + part)];
  });
}

export type DoctorFlags = {
  readonly engine?: string;
  readonly policy?: string;
} & EngineFlags &
  ForecastFlags;

/** Without these nothing trains. */
const required = new Set(['Node', 'backend native', 'sandbox Python']);

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

function machine(): Finding[] {
  const { bavail, bsize } = statfsSync('.');
  return [
    { what: 'Node', isUsable: true, detail: process.versions.node },
    {
      what: 'processor',
      isUsable: true,
      detail: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} threads`,
    },
    { what: 'memory', isUsable: true, detail: gibibytes(totalmem()) },
    { what: 'free disk here', isUsable: true, detail: gibibytes(bavail * bsize) },
  ];
}

async function backends(): Promise<Finding[]> {
  const native = probeNative();
  const webgpu = await probeWebGpu();
  const cuda = probeCuda();
  const devices = cuda.available ? cuda.devices.filter((device) => !device.obstacle) : [];
  return [
    {
      what: 'backend native',
      isUsable: native.available,
      detail: native.available
        ? `kernels for ${native.instructionSets.join(', ')}`
        : native.message,
    },
    { what: 'backend reference', isUsable: true, detail: 'float64 TypeScript: exact and slow' },
    {
      what: 'backend webgpu',
      isUsable: webgpu.available,
      detail: webgpu.available ? webgpu.description : webgpu.message,
    },
    {
      what: 'backend cuda',
      isUsable: cuda.available,
      detail: cuda.available ? devices.map(describeDevice).join('; ') : cuda.message,
    },
  ];
}

/** The guarantees that held when the tier was attacked, and a note if it needs `unsafe`. */
function describe({ tier, guarantees, report }: TierProbe): string {
  const list = Object.entries(guarantees ?? {}).map(([name, level]) => `${name} ${level}`);
  const { memoryObstacle } = report ?? {};
  const why = memoryObstacle === undefined ? '' : `; memory by session: ${memoryObstacle}`;
  return `${list.join(', ')}${why}${tier === 'process' ? ' (only with `unsafe`)' : ''}`;
}

async function sandbox(): Promise<Finding[]> {
  let python: string;
  try {
    python = await openPython(() => undefined);
  } catch (error) {
    return [{ what: 'sandbox Python', isUsable: false, detail: messageOf(error) }];
  }
  const probe = await probeSandbox(python);
  const tiers = probe.tiers.map((found) => ({
    what: `sandbox ${found.tier}`,
    isUsable: found.isUsable,
    detail: found.reason ?? describe(found),
  }));
  if (probe.python === undefined) {
    return [
      { what: 'sandbox Python', isUsable: false, detail: probe.pythonReason ?? '' },
      ...tiers,
    ];
  }
  const { libraries } = probe.python;
  const found = Object.entries(libraries).map(([name, version]) => `${name} ${version}`);
  const hasVideos = 'av' in libraries;
  return [
    { what: 'sandbox Python', isUsable: true, detail: `${python} (in ${pythonDirectory})` },
    { what: 'sandbox libraries', isUsable: true, detail: found.join(', ') },
    {
      what: 'sandbox videos',
      isUsable: hasVideos,
      detail: hasVideos ? 'read by PyAV' : 'PyAV is missing: it needs Python 3.11 or newer',
    },
    ...tiers,
  ];
}
