/** Runs the attacks in one tier and says how each ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coordinateImage } from '../checks/check.ts';
import type { Guarantees } from '../guarantees.ts';
import type { Limits } from '../limits.ts';
import type { LocalSandbox } from '../local-sandbox.ts';
import { openSandbox } from '../open-sandbox.ts';
import type { Outcome } from '../outcome.ts';
import type { Session } from '../session.ts';
import type { LocalTier } from '../tiers.ts';
import { type Attack, type Expectation, preamble, type Verdict } from './attack.ts';
import { callAttacks } from './calls.ts';
import { captureAttacks } from './capture.ts';
import { escapeAttacks } from './escape.ts';
import { neighborAttacks } from './neighbors.ts';
import { replyAttacks } from './replies.ts';
import { resourceAttacks } from './resources.ts';

/** Every attack that the tests and `bin/attacks.js` run. */
export const attacks: readonly Attack[] = [
  ...resourceAttacks,
  ...escapeAttacks,
  ...callAttacks,
  ...captureAttacks,
  ...neighborAttacks,
  ...replyAttacks,
];

/** Attacks that a tier's own walls stop; limits and replies are the work of the same code in all tiers. */
function isOnWalls({ group, expected }: Attack): boolean {
  const { bubblewrap, landlock, process } = expected;
  const isLike = bubblewrap === landlock && landlock === process;
  return group === 'escape' || group === 'other sessions' || !isLike;
}

/** Small, so that passing them costs little. */
export const attackLimits: Partial<Limits> = {
  wallSeconds: 5,
  cpuSeconds: 3,
  memoryBytes: 768 * 2 ** 20,
  sessionMemoryBytes: 256 * 2 ** 20,
  outputBytes: 4096,
  fileBytes: 8 * 2 ** 20,
  diskBytes: 16 * 2 ** 20,
  files: 256,
};
/** Small limits for attacks that end only by them. */
const bombLimits: Partial<Limits> = { ...attackLimits, wallSeconds: 0.5, cpuSeconds: 1 };

/** How one attack ended, beside how it should end. */
export interface AttackResult {
  readonly attack: Attack;
  readonly verdict: Verdict;
  readonly expected: Verdict;
  /** The code's message, or how it ended. */
  readonly detail: string;
}

/** The results of all attacks in one tier on this machine. */
export interface TierResult {
  readonly tier: LocalTier;
  readonly isRoot: boolean;
  readonly guarantees: Guarantees;
  readonly results: readonly AttackResult[];
}

/** The verdict expected on a machine that gives these guarantees. */
export function expectedHere(
  { expected, needs }: Attack,
  { tier, isRoot, guarantees }: Omit<TierResult, 'results'>,
): Verdict {
  const verdict = expectedVerdict(expected, tier, isRoot);
  const isMissing = needs !== undefined && guarantees[needs] !== 'session';
  return isMissing && verdict !== 'untried' ? 'open' : verdict;
}

/**
 * The verdict that a tier must give, as root or as an ordinary user, if it keeps all its
 * guarantees. A verdict that is not stated for a user is root's; for `gvisor` and `micro-vm` it is
 * that of `bubblewrap`.
 */
export function expectedVerdict(expected: Expectation, tier: LocalTier, isRoot: boolean): Verdict {
  if (!isRoot && tier === 'landlock') return expected.landlockAsUser ?? expected.landlock;
  if (!isRoot && tier === 'process') return expected.processAsUser ?? expected.process;
  return expected[tier] ?? expected.bubblewrap;
}

/** @throws UnsupportedError or MissingError if the machine does not have the tier */
export async function runAttacks(
  python: string,
  tier: LocalTier,
  /** Default: all. */
  { onlyWalls = false }: { readonly onlyWalls?: boolean } = {},
): Promise<TierResult> {
  const isRoot = process.getuid?.() === 0;
  const host = await openHost(python);
  process.env.SACCADE_ATTACK_SECRET = 'secret';
  const results: AttackResult[] = [];
  let guarantees: Guarantees | undefined;
  try {
    for (const isBomb of [false, true]) {
      const limits = isBomb ? bombLimits : attackLimits;
      const options = { python, isolation: tier, unsafe: true, forbidden: [], limits };
      const sandbox = await openSandbox(options);
      try {
        guarantees ??= sandbox.guarantees;
        const scene: Scene = { sandbox, host, own: leftovers(sandbox) };
        const tried = attacks
          .filter((attack) => (attack.isBomb ?? false) === isBomb)
          .filter((attack) => fitsMachine(attack) && (!onlyWalls || isOnWalls(attack)));
        for (const attack of tried) {
          const expected = expectedHere(attack, { tier, isRoot, guarantees });
          const found =
            expected === 'untried'
              ? { verdict: expected, detail: '' }
              : await tryAttack(attack, scene);
          results.push({ attack, expected, ...found });
        }
        await scene.victim?.session.dispose();
      } finally {
        await sandbox.dispose();
      }
    }
  } finally {
    delete process.env.SACCADE_ATTACK_SECRET;
    await host.close();
  }
  if (guarantees === undefined) throw new Error('No attack was tried.');
  return { tier, isRoot, guarantees, results };
}

function fitsMachine({ architecture }: Attack): boolean {
  return architecture === undefined || architecture === process.arch;
}

/** What attacks find; the victim lives on from one to the next until one harms it. */
interface Scene {
  readonly sandbox: LocalSandbox;
  readonly host: Host;
  /** The count of `leftovers` without sessions. */
  readonly own: number;
  victim?: Victim;
}

interface Victim {
  readonly session: Session;
  readonly facts: Readonly<Record<string, unknown>>;
}

async function tryAttack(
  attack: Attack,
  scene: Scene,
): Promise<{ verdict: Verdict; detail: string }> {
  const { sandbox, host } = scene;
  const { restarts } = sandbox.stats();
  const victim = scene.victim ?? (await openVictim(sandbox));
  scene.victim = victim;
  const session = await sandbox.open(attack.capture && { capture: attack.capture });
  try {
    const outcome = await session.execute(attackCode(attack, { ...host.facts, ...victim.facts }));
    await session.dispose();
    const harm = await findHarm(victim.session, scene, restarts);
    if (harm === undefined) return judge(outcome);
    delete scene.victim;
    await victim.session.dispose();
    return { verdict: 'open', detail: harm };
  } finally {
    await session.dispose();
  }
}

/** The attack as a program; `facts` are the machine's names that `Attack.code` may use. */
export function attackCode({ code }: Attack, facts: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(facts).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return `${lines.join('\n')}\n${preamble}\n${code}`;
}

/** Opens a session that leaves everything that another one could find. */
async function openVictim(sandbox: LocalSandbox): Promise<Victim> {
  const session = await sandbox.open({
    images: [{ name: 'secret_image', encoded: coordinateImage(123, 77) }],
  });
  const { stdout } = await session.execute(`
import builtins, math, os, sys, types
secret = 1
math.pi = 3
os.environ["VICTIM_WAS_HERE"] = "1"
sys.modules["poison"] = types.ModuleType("poison")
open("kept", "w").write("secret")
print(os.getpid(), os.getppid(), os.getcwd())`);
  const [pid, server, directory] = stdout.trim().split(' ');
  const facts = { VICTIM: Number(pid), SERVER: Number(server), VICTIM_DIRECTORY: directory };
  return { session, facts };
}

/** Describes the attack's harm to others; undefined if there is none. */
async function findHarm(
  victim: Session,
  { sandbox, own }: Scene,
  restarts: number,
): Promise<string | undefined> {
  const after = await victim.execute('print(secret, open("kept").read())');
  if (after.stdout !== '1 secret\n') return `another session ended with ${after.kind}`;
  if (sandbox.stats().restarts !== restarts) return 'the server ended';
  for (let wait = 0; ; wait++) {
    const left = leftovers(sandbox);
    if (left <= own) return undefined;
    if (wait === mostWaits) return `${left - own} processes were left behind`;
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

function judge(outcome: Outcome): { verdict: Verdict; detail: string } {
  const text = outcome.stdout.trim();
  const shown = (line: string | undefined): string => (line ?? '').slice(0, 80);
  const reached = text.split('\n').find((line) => line.startsWith('REACHED'));
  if (reached !== undefined) return { verdict: 'open', detail: shown(reached) };
  if (outcome.images.some(({ width, height }) => isHostImage(width, height))) {
    return { verdict: 'open', detail: 'an image of the host was returned' };
  }
  const { kind, error } = outcome;
  if (kind === 'timeout' || kind === 'memory' || kind === 'crashed') {
    return { verdict: 'stopped', detail: kind };
  }
  if (kind === 'ok' && !text.startsWith('refused')) return { verdict: 'harmless', detail: kind };
  if (kind === 'infraError') return { verdict: 'open', detail: shown(error?.message) };
  return { verdict: 'refused', detail: shown(error?.type ?? text.split('\n')[0]) };
}

/** Waits of 50 ms each. */
const mostWaits = 100;

/** Processes beside those of open sessions; servers, where each session has one that ends with it. */
function leftovers(sandbox: LocalSandbox): number {
  const { open, servers } = sandbox.stats();
  const isOwn = sandbox.report.hasOwnServer;
  return isOwn ? Math.max(1, servers - open) : descendantCount(sandbox.serverPid) - open;
}

/** Living processes below `root`. */
function descendantCount(root: number): number {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state !== 'Z') parents.set(Number(entry), Number(parent));
    } catch {
      // ended while we looked
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === root || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).length;
}

const nodeVersion = Number.parseInt(process.versions.node, 10);

/** A size that no attack gives an image of its own. */
const hostImage = { width: 321, height: 123 };

function isHostImage(width: number, height: number): boolean {
  return width === hostImage.width && height === hostImage.height;
}

/** Node has no datagrams of this kind. */
const takePost = `
import os, socket, sys
post = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
post.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print("ready", flush=True)
while True: post.recv(9)`;

interface Host {
  readonly facts: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/**
 * Sets up things of the machine that sessions must not reach: a readable file and image, a port, an
 * abstract socket, and one for datagrams, as `/dev/log` is.
 */
async function openHost(python: string): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'saccade-attacks-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'answers.json');
  await writeFile(file, '["the answer"]');
  const image = join(folder, 'image.png');
  await writeFile(image, coordinateImage(hostImage.width, hostImage.height));
  const name = `saccade-attacks-${process.pid}`;
  const listeners = [createServer((socket) => socket.destroy()), createServer()];
  const [tcp, unix] = listeners as [Server, Server];
  await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
  await new Promise<void>((done) => unix.listen(`\0${name}`, done));
  const post = join(folder, 'post');
  const postman = spawn(python, ['-c', takePost, post], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(postman.stdout, 'data');
  const address = tcp.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    facts: {
      HOST_FILE: file,
      HOST_IMAGE: image,
      HOST_PORT: port,
      HOST_SOCKET: name,
      HOST_POST: post,
      NODE: nodeVersion,
    },
    close: async () => {
      postman.kill();
      await Promise.all(listeners.map((one) => new Promise((done) => one.close(done))));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
