/** Plans of faults for a training of several processes: what fails, at which request, for how long. */
import { type Random, randomAt } from '@saccade/core';

/** Processes that a plan may kill or hold. */
export type Victim = 'server' | 'controller' | EngineLink | 'rank-0' | 'rank-1';

/** What a network does to one request. */
const networkFaults = [
  'lost request',
  'lost answer',
  'doubled',
  'cut answer',
  'late',
  'slow',
  'refused 429',
  'refused 503',
  'failed 500',
] as const;
export type NetworkFault = (typeof networkFaults)[number];

/** Who is asked: the learner, or an engine that samples. */
export type Link = 'learner' | EngineLink;
export type EngineLink = 'engine' | 'other engine';

/** Requests of an undisturbed training over a link. */
export interface LinkCount {
  readonly all: number;
  /** Of them before the first save: a server is measured by many small ones. */
  readonly before: number;
}

/** A place in the course of a training. */
export interface Place {
  readonly link: Link;
  /** Share of the requests after the first save of one undisturbed; below 0 of those before it. */
  readonly share: number;
  /** Before the request arrives, while it is served, or after it was, with its answer lost. */
  readonly moment: 'before' | 'during' | 'after';
}

export type Fault = Place &
  (
    | { readonly kind: 'kill'; readonly victim: Victim; readonly awaySeconds: number }
    | { readonly kind: 'hold'; readonly victim: Victim; readonly seconds: number }
    | { readonly kind: 'full disk'; readonly disk: Disk; readonly leavesBytes: number }
  );

/** The disk of the server's checkpoints, or that of the run. */
export type Disk = 'server' | 'run';

/** Who trains: our kernels, those with one or two engines that sample, or the worker of `workers/torch`. */
export type Setup = 'kernels' | 'engine' | 'engines' | 'torch';

/** The engines of a setup. */
export function enginesOf(setup: Setup): readonly EngineLink[] {
  if (setup === 'engine') return ['engine'];
  return setup === 'engines' ? ['engine', 'other engine'] : [];
}

export interface FaultPlan {
  readonly seed: number;
  readonly setup: Setup;
  readonly faults: readonly Fault[];
  readonly network?: {
    /** Share of requests that fail. */
    readonly rate: number;
    readonly kinds: readonly NetworkFault[];
  };
}

/** A count for every link. */
export function countsOf(count: (link: Link) => LinkCount): Readonly<Record<Link, LinkCount>> {
  return {
    learner: count('learner'),
    engine: count('engine'),
    'other engine': count('other engine'),
  };
}

/** What a campaign may do on this machine. */
export interface Means {
  readonly setups: readonly Setup[];
  /** Whether small disks can be mounted. */
  readonly hasDisks: boolean;
  /** Kinds of faults, as `kindsOf` names them; others are left out. */
  readonly only?: readonly string[];
}

/** The kinds of faults of a setup: `kill server`, `hold rank-1`, `full disk of the run`, `network`. */
export function kindsOf(setup: Setup, { hasDisks, only }: Means): readonly string[] {
  const own: readonly Victim[] =
    setup === 'torch'
      ? ['rank-0', 'rank-1', 'server', 'controller']
      : [...enginesOf(setup), 'server', 'controller'];
  const all = [
    ...own.map((victim) => `kill ${victim}`),
    ...own.map((victim) => `hold ${victim}`),
    'network',
    ...(hasDisks ? ['full disk of the server', 'full disk of the run'] : []),
  ];
  return only === undefined ? all : all.filter((kind) => only.includes(kind));
}

/** The plan of a seed. Kinds come in turn, so that few plans have all of them; more join at random. */
export function planAt(seed: number, means: Means): FaultPlan {
  const random = randomAt(seed, 'fault plan');
  const setups = means.setups.filter((setup) => kindsOf(setup, means).length > 0);
  const setup = setups[seed % setups.length] ?? 'kernels';
  const kinds = kindsOf(setup, means);
  const turn = Math.floor(seed / setups.length) % kinds.length;
  const chosen = [kinds[turn] as string];
  while (chosen.length < 4 && random.uniform() < 0.5) chosen.push(random.pick(kinds));
  const isNoisy = chosen.includes('network');
  return {
    seed,
    setup,
    faults: chosen.filter((kind) => kind !== 'network').map((kind) => faultOf(kind, setup, random)),
    ...(isNoisy && {
      network: {
        rate: 0.01 + 0.09 * random.uniform(),
        kinds: networkFaults.filter(() => random.uniform() < 0.7),
      },
    }),
  };
}

function faultOf(kind: string, setup: Setup, random: Random): Fault {
  const engines = enginesOf(setup);
  const place: Place = {
    link: engines.length > 0 && random.uniform() < 0.4 ? random.pick(engines) : 'learner',
    share: 1.2 * random.uniform() - 0.2,
    moment: random.pick(['before', 'during', 'after'] as const),
  };
  const disk = /^full disk of the (server|run)$/.exec(kind)?.[1] as Disk | undefined;
  if (disk !== undefined) {
    return { ...place, kind: 'full disk', disk, leavesBytes: random.integer(3 * 2 ** 20) };
  }
  const [, what, name] = /^(kill|hold) (.*)$/.exec(kind) ?? [];
  const victim = name as Victim;
  const link = engines.find((engine) => engine === victim);
  const own: Place = link === undefined ? place : { ...place, link };
  return what === 'kill'
    ? { ...own, kind: 'kill', victim, awaySeconds: random.uniform() }
    : { ...own, kind: 'hold', victim, seconds: 0.2 + 1.5 * random.uniform() };
}

/** The request at which a fault is due. */
export function requestOf({ share }: Place, { all, before }: LinkCount): number {
  const at = share < 0 ? before * (1 + 5 * share) : before + share * (all - before);
  return Math.max(1, Math.floor(at));
}

/** The kind of a fault, as `kindsOf` names it. */
export function kindOf(fault: Fault): string {
  return fault.kind === 'full disk'
    ? `full disk of the ${fault.disk}`
    : `${fault.kind} ${fault.victim}`;
}
