import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { probeSandbox } from '../probe.ts';
import { ensurePython } from '../python-environment.ts';
import { isOpenToOthers } from '../python-interpreter.ts';
import { type LocalTier, localTiers } from '../tiers.ts';
import { attacks, expectedHere, expectedVerdict, runAttacks, type TierResult } from './run.ts';
import { drawAttacks } from './table.ts';

const root = join(import.meta.dirname, '../../../..');
let python = '';
/** The strongest of those that need no kernel for each session: a sandbox is one of it by default. */
let defaultTier: LocalTier | undefined;

beforeAll(async () => {
  ({ python } = await ensurePython(join(root, '.cache/sandbox-venv')));
  const { tiers } = await probeSandbox(python);
  const usable = tiers.filter(({ isUsable }) => isUsable).map(({ tier }) => tier);
  defaultTier = (['bubblewrap', 'landlock', 'process'] as const).find((t) => usable.includes(t));
}, 300_000);

const byHand = 'takes minutes; `node packages/sandbox/bin/attacks.js PYTHON` runs it';
const slowTiers: Readonly<Partial<Record<LocalTier, string>>> =
  process.env.SACCADE_ALL_ATTACKS === undefined ? { gvisor: byHand, 'micro-vm': byHand } : {};

const isSweep = process.env.SACCADE_SWEEP !== undefined;
/** Why root need not attack a tier that an ordinary user attacks: bubblewrap alone is left to both. */
function waitsForSweep(tier: LocalTier): string | undefined {
  const isBoth = process.getuid?.() === 0 && isOpenToOthers(root);
  if (isSweep || tier === 'bubblewrap' || !isBoth) return undefined;
  return 'an ordinary user attacks it below; `npm run sweep` runs it as root, too';
}

/** Reasons that are the machine's, by the class of the error. */
const machine = /^(Missing|Unsupported)Error/;

function surprises({ results }: TierResult): string[] {
  return results
    .filter(({ verdict, expected }) => verdict !== expected)
    .map(({ attack, verdict, expected, detail }) => {
      return `${attack.name}: expected ${expected}, got ${verdict} (${detail})`;
    });
}

/** The same in a process of a user without rights; through Vite, because Node 20 reads no TypeScript. */
async function runAsOrdinaryUser(): Promise<Record<LocalTier, TierResult | string>> {
  const script = [
    "import { runnerImport } from 'vite';",
    "const conditions = ['@saccade/source'];",
    `const { module } = await runnerImport(${JSON.stringify(join(import.meta.dirname, 'run.ts'))}, {`,
    "  configFile: false, logLevel: 'error', resolve: { conditions },",
    '  ssr: { noExternal: [/^@saccade/], resolve: { conditions } },',
    '});',
    'const results = {};',
    `for (const tier of ${JSON.stringify(localTiers.filter((tier) => !slowTiers[tier]))}) {`,
    `  const run = module.runAttacks(${JSON.stringify(python)}, tier, { onlyWalls: ${!isSweep} });`,
    '  results[tier] = await run.catch((error) => error.name + ": " + error.message);',
    '}',
    'process.stdout.write(JSON.stringify(results), () => process.exit(0));',
  ].join('\n');
  const identity = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const child = spawn('setpriv', [...identity, ...node], {
    cwd: root,
    env: { ...process.env, HOME: '/tmp' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await new Promise((done) => child.on('close', done));
  return JSON.parse(text);
}

const left = '`npm run sweep` tries those, too';
if (!isSweep) {
  console.info(
    `Of limits and replies, attacks are tried in the default tier as the user who starts: ${left}.`,
  );
}

/** The results of an ordinary user in every tier, from one process. */
let ofUser: ReturnType<typeof runAsOrdinaryUser> | undefined;

for (const tier of localTiers) {
  describe(`attacks on the ${tier} tier`, () => {
    it('end as declared', async (context) => {
      const reason = slowTiers[tier] ?? waitsForSweep(tier);
      if (reason !== undefined) return context.skip(reason);
      const onlyWalls = !isSweep && tier !== defaultTier;
      const result = await runAttacks(python, tier, { onlyWalls }).catch((error) => {
        if (machine.test(error.name)) return context.skip(error.message);
        throw error;
      });
      expect(surprises(result)).toEqual([]);
    });

    it('end as declared for an ordinary user', async (context) => {
      if (process.getuid?.() !== 0) return context.skip('the others are of an ordinary user');
      const reason = slowTiers[tier];
      if (reason !== undefined) return context.skip(reason);
      if (!isOpenToOthers(root)) return context.skip('the repository is closed to other users');
      ofUser ??= runAsOrdinaryUser();
      const { [tier]: result } = await ofUser;
      if (typeof result === 'string') {
        if (machine.test(result)) return context.skip(result);
        throw new Error(result);
      }
      expect(result.isRoot).toBe(false);
      expect(surprises(result)).toEqual([]);
    }, 600_000);
  });
}

describe('an attack that a guarantee stops', () => {
  it('is expected to succeed where the machine does not give it', () => {
    const attack = attacks.find(({ needs }) => needs === 'memory');
    if (attack === undefined) throw new Error('No attack needs it.');
    const at = (memory: 'session' | 'process') => {
      const guarantees = { memory } as TierResult['guarantees'];
      return expectedHere(attack, { tier: 'bubblewrap', isRoot: true, guarantees });
    };
    expect([at('session'), at('process')]).toEqual(['stopped', 'open']);
  });
});

describe('the table of attacks', () => {
  it('has an expectation for each and says what is not as expected', () => {
    expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
    const [attack] = attacks;
    if (attack === undefined) throw new Error('There are no attacks.');
    expect(expectedVerdict(attack.expected, 'bubblewrap', true)).toBe('stopped');
    const results = [
      { attack, verdict: 'open', expected: 'stopped', detail: '' },
      { attack: { ...attack, name: 'other' }, verdict: 'refused', expected: 'refused', detail: '' },
    ] as const;
    const guarantees = {} as TierResult['guarantees'];
    const table = drawAttacks([{ tier: 'landlock', isRoot: true, guarantees, results }]);
    expect(table.split('\n')).toEqual([
      '| group | attack | landlock, root |',
      '| --- | --- | --- |',
      '| resources | fork bomb | open ! (stopped) |',
      '| resources | other | refused |',
    ]);
  });
});
