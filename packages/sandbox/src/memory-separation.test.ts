/** A session begins with nothing of another one's in its memory: all of it is looked through. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { processesBelow, scanMemory } from './memory-scan.fixture.ts';
import { ensurePython } from './python-environment.ts';
import { isOpenToOthers } from './python-interpreter.ts';
import { type LocalTier, localTiers } from './tiers.ts';

const root = join(import.meta.dirname, '../../..');
let python = '';

beforeAll(async () => {
  ({ python } = await ensurePython(join(root, '.cache/sandbox-venv')));
}, 300_000);

/** The fixture in a process of its own, through Vite, because Node 20 reads no TypeScript. */
function startTenants(tier: LocalTier, isUser: boolean): ChildProcess {
  const fixture = join(import.meta.dirname, 'memory-separation.fixture.ts');
  const script = [
    "import { runnerImport } from 'vite';",
    "const conditions = ['@saccade/source'];",
    `const { module } = await runnerImport(${JSON.stringify(fixture)}, {`,
    "  configFile: false, logLevel: 'error', resolve: { conditions },",
    '  ssr: { noExternal: [/^@saccade/], resolve: { conditions } },',
    '});',
    `const run = module.serveTenants(${JSON.stringify(python)}, ${JSON.stringify(tier)});`,
    'const failure = await run.then(() => undefined, (error) => error.name + ": " + error.message);',
    'process.stdout.write(JSON.stringify({ failure }) + "\\n", () => process.exit(0));',
  ].join('\n');
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const identity = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  const [command = '', ...args] = isUser ? ['setpriv', ...identity, ...node] : node;
  return spawn(command, args, {
    cwd: root,
    env: { ...process.env, HOME: '/tmp' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

interface Told {
  readonly server?: number;
  readonly needles?: Readonly<Record<string, string>>;
  readonly failure?: string;
}

/** Names of what was found in the memory of each process; or why the tier cannot be had. */
async function look(
  tier: LocalTier,
  isUser: boolean,
): Promise<string | Record<'tenant' | 'forking' | 'fresh', string[]>> {
  const child = startTenants(tier, isUser);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const told = lines[Symbol.asyncIterator]();
  const next = async (): Promise<Told> => JSON.parse((await told.next()).value ?? '{}') as Told;
  const goOn = (): void => void child.stdin?.write('\n');
  try {
    const { server, failure } = await next();
    if (server === undefined) return failure ?? 'it ended';
    const before = processesBelow(server);
    goOn();
    const { needles: given = {}, failure: later } = await next();
    if (later !== undefined) throw new Error(later);
    const needles = Object.fromEntries(
      Object.entries(given).map(([name, hex]) => [name, Buffer.from(hex, 'hex')]),
    );
    const tenants = processesBelow(server).filter((pid) => !before.includes(pid));
    goOn();
    await next();
    const known = [...before, ...tenants];
    const fresh = processesBelow(server).filter((pid) => !known.includes(pid));
    expect([tenants.length >= 2, fresh.length]).toEqual([true, 2]);
    const found = (pids: readonly number[]): string[] => [
      ...new Set(pids.flatMap((pid) => scanMemory(pid, needles).found)),
    ];
    // The server's own processes: the last one has no child but the sessions, which are their parent's.
    const forking = scanMemory(before.at(-1) ?? 0, needles);
    expect(forking.bytes).toBeGreaterThan(16 * 2 ** 20);
    const seen = { tenant: found(tenants), forking: [...forking.found], fresh: found(fresh) };
    goOn();
    return seen;
  } finally {
    child.stdin?.end();
    await new Promise((done) => (child.exitCode === null ? child.on('close', done) : done(null)));
  }
}

const isSweep = process.env.SACCADE_SWEEP !== undefined;
/** Each user in one tier: what a session gets is the work of the same code in all. */
const shortUsers: Readonly<Partial<Record<LocalTier, string>>> = {
  bubblewrap: 'root',
  landlock: 'an ordinary user',
};

const machine = /^(Missing|Unsupported)Error/;

describe.each(localTiers)('the memory of a fresh session in the %s tier', (tier) => {
  it.for(['root', 'an ordinary user'])(
    'has nothing of another session’s, as %s',
    async (user, context) => {
      const isUser = user !== 'root';
      const reason =
        process.platform !== 'linux' || process.getuid?.() !== 0
          ? 'only root on Linux can look into it'
          : isUser && !isOpenToOthers(root)
            ? 'the repository is closed to other users'
            : undefined;
      if (reason !== undefined) return context.skip(reason);
      if (tier === 'gvisor' || tier === 'micro-vm') {
        return context.skip(
          'a server has one session there, and no memory that is forked for others',
        );
      }
      if (!isSweep && shortUsers[tier] !== user) {
        return context.skip('`npm run sweep` looks in every tier as both users');
      }
      const seen = await look(tier, isUser);
      if (typeof seen === 'string') {
        if (machine.test(seen)) return context.skip(seen);
        throw new Error(seen);
      }
      // The scan finds what is there: in the tenants all of it.
      for (const mode of ['persistent', 'transactional']) {
        for (const what of ['encoded image', 'decoded image', 'encoded video', 'code', 'output']) {
          expect(seen.tenant).toContain(`${mode}: ${what}`);
        }
      }
      expect(seen.fresh).toEqual([]);
      expect(seen.forking).toEqual([]);
    },
  );
});
