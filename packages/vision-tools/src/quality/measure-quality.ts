/** Calls tools on the cases of their suites, and sums up. */
import { readSettings } from '@saccade/core/settings';
import { SandboxError } from '@saccade/sandbox';
import type { ToolContext, ToolHost, ToolImage } from '@saccade/tools';
import { visionTools } from '../registry.ts';
import { WorkerPool } from '../workers/worker-pool.ts';
import {
  type Draw,
  type QualityCase,
  type QualityReport,
  type QualitySuite,
  type Scores,
  type Spread,
  shortfalls,
} from './quality.ts';

/** The options of a measurement. */
export interface QualityOptions {
  /** The interpreter of the sandbox's environment. */
  readonly python: string;
  /** The folder `quality/python`. */
  readonly folder: string;
  /** Cases of a suite at most; all by default. */
  readonly most?: number;
  readonly onCase?: (tool: string, done: number, total: number) => void;
}

interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly cpuMs: number;
  /** Whether the image is new to the suite: some tools remember what they read in the last ones. */
  readonly isFirst: boolean;
  readonly scores: Scores;
}

/** A processor for each of one drawing and one working process is enough. */
const drawing = { workers: 1, memoryMb: 2048, maxPixels: 40_000_000 };
/** Enough on the busiest machine: a call that is late is measured, not lost. */
const timeoutSeconds = 600;
const noSandbox: ToolContext['sandbox'] = {
  open: async () => {
    throw new SandboxError('Visual tools run no code of the model.');
  },
};

/** Measures suites one after another, one call at a time. */
export async function measureQuality(
  suites: readonly QualitySuite[],
  options: QualityOptions,
): Promise<readonly QualityReport[]> {
  const { python, folder } = options;
  const drawer = new WorkerPool({ python, ...drawing, folders: [folder] });
  const draw: Draw = (operation, params, images = []) =>
    drawer.run(operation, params, images, { deadlineMs: 120_000 });
  try {
    const reports: QualityReport[] = [];
    for (const suite of suites) reports.push(await measureSuite(suite, draw, options));
    return reports;
  } finally {
    await drawer.dispose();
  }
}

async function measureSuite(
  suite: QualitySuite,
  draw: Draw,
  { python, most = Number.POSITIVE_INFINITY, onCase }: QualityOptions,
): Promise<QualityReport> {
  const host: ToolHost = {
    python: async () => python,
    onEvent() {},
    secret: (field) => field,
  };
  const unit = visionTools.get(suite.tool);
  const settings = readSettings(suite.tool, unit.settings, {
    workers: 1,
    warmUp: true,
    timeoutSeconds,
  });
  const { tools, dispose } = await unit.open(settings, host);
  try {
    const [tool] = tools;
    if (tool === undefined) throw new Error(`${suite.tool} opens no tool.`);
    const all = await suite.cases(draw);
    const cases = all.slice(0, most);
    const measured: Measured[] = [];
    const seen = new Set<ToolImage>();
    for (const one of cases) {
      const outcome = await tool.call(one.given, { images: one.images, sandbox: noSandbox });
      const scores = await one.score(outcome);
      const [image] = one.images;
      const isFirst = image === undefined || !seen.has(image);
      if (image !== undefined) seen.add(image);
      measured.push({ name: one.name, ms: outcome.wallMs, cpuMs: outcome.cpuMs, isFirst, scores });
      onCase?.(suite.tool, measured.length, cases.length);
    }
    return report(suite, cases, measured);
  } finally {
    await dispose();
  }
}

function report(
  { tool, backing }: QualitySuite,
  cases: readonly QualityCase[],
  measured: readonly Measured[],
): QualityReport {
  const names = [...new Set(measured.flatMap(({ scores }) => Object.keys(scores)))];
  const scores = names.map((name) => {
    const values = measured.flatMap((one) => one.scores[name] ?? []);
    return [name, { mean: mean(values), cases: values.length }] as const;
  });
  const first = measured.filter(({ isFirst }) => isFirst);
  const worst = measured
    .map(({ name, scores: own }) => ({ name, score: mean(counted(own)) }))
    .sort((a, b) => a.score - b.score)
    .slice(0, 5);
  return {
    ...{ tool, backing, cases: measured.length, worst },
    ms: spreadOf(first.map(({ ms }) => ms)),
    cpuMs: spreadOf(first.map(({ cpuMs }) => cpuMs)),
    arguments: [...new Set(cases.flatMap(({ given }) => Object.keys(given)))],
    scores: Object.fromEntries(scores),
  };
}

/** The scores that tell a good case from a bad one: of an answer only whether it is right. */
function counted(scores: Scores): readonly number[] {
  return Object.entries(scores).flatMap(([name, value]) => (shortfalls.has(name) ? [] : [value]));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

function spreadOf(times: readonly number[]): Spread {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: quantile(0.5), p95: quantile(0.95) };
}
