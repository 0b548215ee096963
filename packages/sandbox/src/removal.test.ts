import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython, pythonSources } from './python-environment.ts';
import { isOpenToOthers } from './python-interpreter.ts';
import { makeTemporary, removeTree, sweepTemporaries } from './temporary.ts';

const root = join(import.meta.dirname, '../../..');
const isRoot = process.getuid?.() === 0;
let python = '';

beforeAll(async () => {
  ({ python } = await ensurePython(join(root, '.cache/sandbox-venv')));
}, 300_000);

const ownTemporary = process.env.TMPDIR;
const folders: string[] = [];

afterEach(() => {
  if (ownTemporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = ownTemporary;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'saccade-removal-'));
  chmodSync(folder, 0o777);
  folders.push(folder);
  return folder;
}

/** Python that makes a tree of `size` random things below the directory it is in, as hostile as a user can. */
const growTree = `
import os, random, sys
def grow(seed, size):
    chance = random.Random(seed)
    start = os.getcwd()
    closed, level = [], 0
    for index in range(size):
        kind = chance.choice("file file link hard fifo node wide deep deep up name close".split())
        name = b"%d" % index
        if kind == "name":
            name = bytes(chance.choice(b"\\x01\\n\\xff\\xfe*-. ab") for _ in range(chance.randint(1, 200))) + name
        try:
            if kind in ("file", "name"): os.close(os.open(name, os.O_CREAT | os.O_WRONLY, chance.choice((0, 0o600))))
            elif kind == "link": os.symlink(chance.choice((b"/etc", b"..", b".", name, b"/proc/self/fd/0")), name)
            elif kind == "hard": os.link(chance.choice(os.listdir(b".")), name, follow_symlinks=False)
            elif kind == "fifo": os.mkfifo(name)
            elif kind == "node": os.mknod(name, 0o140666)
            elif kind == "wide":
                os.mkdir(name)
                for n in range(chance.randint(1, 60)): os.close(os.open(name + b"/%d" % n, os.O_CREAT))
            elif kind == "deep":
                for _ in range(chance.randint(1, 60)):
                    os.mkdir(name)
                    os.chdir(name)
            elif kind == "up" and level: os.chdir("..")
            elif kind == "close":
                os.mkdir(name)
                os.mkdir(name + b"/inner")
                closed.append((os.open(name, os.O_RDONLY), chance.choice((0, 0o100, 0o400, 0o500))))
        except (OSError, IndexError): pass
    here = os.open(".", os.O_RDONLY)
    for number, mode in closed:
        try: os.fchmod(number, mode)
        except OSError: pass
        os.close(number)
    try: os.fchmod(here, 0)
    except OSError: pass
    os.close(here)
    try: os.chdir(start)
    except OSError: pass
`;

/** Runs a program of ours as ourselves or, being root, as a user without rights. */
function runAs(user: 'self' | 'other', args: readonly string[]): number | null {
  const identity = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--', python];
  const [command, before] = user === 'self' ? [python, []] : ['setpriv', identity];
  const { status, stderr } = spawnSync(command, [...before, ...args], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return status;
}

const remover = (): string => join(pythonSources, 'removal.py');

describe('a random tree', () => {
  for (const user of ['self', 'other'] as const) {
    it(`is removed with everything in it (${user})`, (context) => {
      if (user === 'other' && !isRoot) return context.skip('only root can be another user');
      if (user === 'other' && !isOpenToOthers(root)) {
        return context.skip('the repository is closed to other users');
      }
      for (let seed = 1; seed <= 3; seed++) {
        const place = join(makeFolder(), 'tree');
        const make = `os.mkdir(${JSON.stringify(place)}); os.chdir(${JSON.stringify(place)}); grow(${seed}, 100)`;
        runAs(user, ['-c', `${growTree}\n${make}`]);
        expect(lstatSync(place).isDirectory()).toBe(true);
        expect([seed, runAs(user, [remover(), '60', place])]).toEqual([seed, 0]);
        expect(existsSync(place)).toBe(false);
      }
    }, 120_000);
  }

  it('is removed though a process keeps making directories in it, once that ends', async () => {
    const place = join(makeFolder(), 'tree');
    const grow = `${growTree}
import time
os.mkdir(${JSON.stringify(place)})
print("ready", flush=True)
end = time.monotonic() + 1
while time.monotonic() < end:
    for path in ("a/b/c", "x", "a/d"):
        try: os.makedirs(${JSON.stringify(place)} + "/" + path)
        except OSError: pass`;
    const grower = spawn(python, ['-c', grow], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(grower.stdout, 'data');
    const during = runAs('self', [remover(), '0.5', place]);
    expect([0, 1]).toContain(during);
    if (grower.exitCode === null) await once(grower, 'exit');
    expect(runAs('self', [remover(), '60', place])).toBe(0);
  });

  it('is given up when the time is over', () => {
    const place = join(makeFolder(), 'tree');
    const make = `os.mkdir(${JSON.stringify(place)}); [os.mkdir(f"${place}/{i}") for i in range(1_500)]`;
    runAs('self', ['-c', `import os; ${make}`]);
    expect(runAs('self', [remover(), '0.02', place])).toBe(1);
    expect(runAs('self', [remover(), '60', place])).toBe(0);
  });
});

it('removes what is fixed by flags or mounted, and spares what the mount shows', (context) => {
  if (!isRoot) return context.skip('only root can set flags and mount');
  const folder = makeFolder();
  const [place, host] = [join(folder, 'tree'), join(folder, 'host')];
  mkdirSync(join(place, 'a/mounted'), { recursive: true });
  mkdirSync(join(place, 'a/bound'));
  mkdirSync(join(place, 'grows'));
  mkdirSync(host);
  for (const path of [join(host, 'kept'), join(place, 'a/fixed'), join(place, 'grows/line')]) {
    writeFileSync(path, '');
  }
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(place, 'a/mounted')], { stdio: 'pipe' });
    execFileSync('mount', ['--bind', host, join(place, 'a/bound')], { stdio: 'pipe' });
    execFileSync('chattr', ['+i', join(place, 'a/fixed'), join(place, 'a')], { stdio: 'pipe' });
    execFileSync('chattr', ['+a', join(place, 'grows')], { stdio: 'pipe' });
  } catch (error) {
    runAs('self', [remover(), '60', place]);
    return context.skip(`this machine has no mounts or flags to try: ${String(error)}`);
  }
  expect(runAs('self', [remover(), '60', place])).toBe(0);
  expect(existsSync(place)).toBe(false);
  expect(readdirSync(host)).toEqual(['kept']);
});

describe('what sessions of the landlock tier leave', () => {
  const codes: readonly (readonly [string, string])[] = [
    [
      'a directory 3,000 deep',
      'for _ in range(3000):\n    os.mkdir("d")\n    os.chdir("d")\nprint("made")',
    ],
    [
      'closed directories and names that are no text',
      'os.makedirs("a/b")\nopen(b"a/\\xff\\n", "w").close()\nfor p in ("a/b", "a"): os.chmod(p, 0)\nprint("made")',
    ],
    ...[1, 2].map(
      (seed) => [`random tree ${seed}`, `${growTree}\ngrow(${seed}, 60)\nprint("made")`] as const,
    ),
    [
      'a process that keeps making directories',
      'if os.fork() == 0:\n    os.setsid()\n    while True:\n        try: os.makedirs("a/b/c/d")\n        except OSError: pass\nprint("made")',
    ],
  ];

  it('is removed when each ends, and harms no other', async (context) => {
    process.env.TMPDIR = makeFolder();
    const sandbox = await openSandbox({ python, isolation: 'landlock', forbidden: [] }).catch(
      (error) => context.skip(String(error)),
    );
    const scratch = join(process.env.TMPDIR, readdirSync(process.env.TMPDIR)[0] ?? '');
    const neighbor = await sandbox.open();
    await neighbor.execute('kept = 1');
    for (const [name, code] of codes) {
      const session = await sandbox.open();
      const outcome = await session.execute(`import os\n${code}`);
      expect([name, outcome.kind, outcome.stdout]).toEqual([name, 'ok', 'made\n']);
      await session.dispose();
      const left = readdirSync(join(scratch, 'sessions')).filter((entry) => /^s\d/.test(entry));
      expect([name, left.length]).toEqual([name, 1]); // the neighbor's
      expect((await neighbor.execute('print(kept)')).stdout).toBe('1\n');
    }
    expect(sandbox.stats().restarts).toBe(0);
    const last = await sandbox.open();
    await last.execute(`import os\n${codes[0]?.[1]}`);
    await sandbox.dispose();
    expect(readdirSync(process.env.TMPDIR)).toEqual([]);
  }, 180_000);

  it('is removed by the next start where both Node and the server were killed', async () => {
    process.env.TMPDIR = makeFolder();
    const mine = await makeTemporary('sandbox');
    const child = spawn('true');
    await once(child, 'exit');
    const dead = mine.replace(`-${process.pid}-`, `-${child.pid}-`);
    // The number is in use again, by a process that started at another time.
    const reused = mine.replace(/-\d+-([^-]*)$/, '-1-$1');
    const make = `os.chdir(sys.argv[1]); grow(5, 80)`;
    for (const path of [dead, reused]) {
      mkdirSync(path);
      runAs('self', ['-c', `${growTree}\n${make}`, path]);
    }
    await sweepTemporaries(python);
    expect(readdirSync(process.env.TMPDIR)).toEqual([basename(mine)]);
    await removeTree(mine, python);
    expect(existsSync(mine)).toBe(false);
  });
});
