/** What `node scripts/learner-faults.mjs --processes` asks for, and what it prints. */
import { existsSync } from 'node:fs';
import type { Played } from './fault-campaign.fixture.ts';
import { type FaultPlan, kindOf, kindsOf, type Means, type Setup } from './fault-plan.fixture.ts';
import { canMount } from './small-disk.fixture.ts';

/** A campaign: how many plans, from which seed, with what. */
export interface Campaign {
  readonly count: number;
  readonly first: number;
  readonly means: Means;
  readonly options: { readonly seconds: number; readonly python?: string };
  /** The folder in which logs and runs stay; undefined: they go. */
  readonly keepIn: string | undefined;
}

/** The campaign of an environment variable: its flags as JSON. */
export function readCampaign(text: string | undefined): Campaign | undefined {
  if (text === undefined) return undefined;
  const { processes, seed, python, setups, only, seconds, keepIn } = JSON.parse(text);
  if (python !== undefined && !existsSync(python)) throw new Error(`There is no ${python}.`);
  const possible: readonly Setup[] = [
    'kernels',
    'engine',
    'engines',
    ...(python ? ['torch' as const] : []),
  ];
  const wanted: readonly Setup[] = setups ?? possible;
  const means: Means = {
    setups: possible.filter((setup) => wanted.includes(setup)),
    hasDisks: canMount(),
    ...(only && { only }),
  };
  if (means.setups.every((setup) => kindsOf(setup, means).length === 0)) {
    const { only: _, ...all } = means;
    const known = [...new Set(possible.flatMap((setup) => kindsOf(setup, all)))];
    throw new Error(`No fault of these can be made here. Known: ${known.join(', ')}.`);
  }
  const options = { seconds, ...(python && { python }) };
  return { count: processes, first: seed, means, options, keepIn };
}

interface Line {
  plans: number;
  faults: number;
}

/** Prints a line for each plan, and a table at the end. */
export function reportOf({ count, first, means }: Campaign): {
  add(plan: FaultPlan, played: Played | undefined, problem: string | undefined): void;
  /** The problems. */
  end(): readonly string[];
} {
  const start = Date.now();
  const table = new Map<string, Line>();
  const problems: string[] = [];
  let starts = 0;
  const setups = new Map<Setup, number>();
  if (!means.hasDisks) say('Full disks are left out: this process may not mount any.');
  return {
    add(plan, played, problem) {
      const { seed, setup } = plan;
      setups.set(setup, (setups.get(setup) ?? 0) + 1);
      for (const [kind, faults] of Object.entries(played?.faults ?? {})) {
        const line = table.get(kind) ?? { plans: 0, faults: 0 };
        table.set(kind, { plans: line.plans + 1, faults: line.faults + faults });
      }
      starts += played?.starts ?? 0;
      const what = [...plan.faults.map(kindOf), ...(plan.network ? ['network'] : [])].join(', ');
      const seconds = ((Date.now() - start) / 1000).toFixed(0);
      const errors = played?.errors.length ? `; said: ${played.errors.join(' | ')}` : '';
      say(
        `${problem === undefined ? 'ok  ' : 'FAIL'} ${seed - first + 1}/${count} ${seconds} s, seed ` +
          `${seed}, ${setup}: ${what}${errors}${problem === undefined ? '' : `\n     ${problem}`}`,
      );
      if (problem !== undefined) problems.push(`seed ${seed}, ${setup}: ${problem}`);
    },
    end() {
      say('');
      say(`${'fault'.padEnd(26)} plans  faults`);
      for (const [kind, { plans, faults }] of [...table].sort(([a], [b]) => (a < b ? -1 : 1))) {
        say(`${kind.padEnd(26)} ${String(plans).padStart(5)} ${String(faults).padStart(7)}`);
      }
      const how = [...setups].map(([setup, plans]) => `${plans} ${setup}`).join(', ');
      say(
        `${count} plans (${how}), ${starts} starts of a controller: ${problems.length} with other ` +
          'numbers, errors or leftovers.',
      );
      return problems;
    },
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
