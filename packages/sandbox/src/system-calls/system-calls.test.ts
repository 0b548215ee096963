import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensurePython, pythonSources } from '../python-environment.ts';
import { findCommand } from '../python-interpreter.ts';
import { callsOfSessions, runExercises } from './record.ts';

const root = join(import.meta.dirname, '../../../..');
let python = '';

beforeAll(async () => {
  ({ python } = await ensurePython(join(root, '.cache/sandbox-venv')));
}, 300_000);

describe('the list of system calls', () => {
  for (const tier of ['bubblewrap', 'landlock', 'process'] as const) {
    it(`has what the libraries need (${tier})`, async (context) => {
      if (tier === 'process' && process.env.SACCADE_SWEEP === undefined) {
        return context.skip('it allows more calls than landlock; `npm run sweep` runs it, too');
      }
      const failures = await runExercises(python, tier).catch((error) => {
        if (/^(Missing|Unsupported)Error/.test(error.name)) return context.skip(error.message);
        throw error;
      });
      if (failures.length === 0) return;
      expect({ failures, missing: missingCalls(tier) }).toEqual({ failures: [], missing: [] });
    }, 300_000);
  }

  it('gives each call one verdict, and one number on each machine', async () => {
    const script = `
import json, system_calls as s
tables = [s.ALLOWED, {k: v[0] for k, v in s.CHECKED.items()}, s.METADATA, s.NETWORK, s.REFUSED, s.FALLS_BACK]
print(json.dumps([[n, v] for t in tables for n, v in t.items()]))`;
    const rows = JSON.parse(runPython(script)) as [string, [number, number | null]][];
    for (const column of [0, 1] as const) {
      const numbers = rows.flatMap(([, both]) => (both[column] === null ? [] : [both[column]]));
      expect(new Set(numbers).size).toBe(numbers.length);
    }
    expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length);
  });

  it('has the numbers of the kernel’s headers', async (context) => {
    const header = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h';
    if (!existsSync(header)) return context.skip(`no ${header} here`);
    const known = new Map(
      [...readFileSync(header, 'utf8').matchAll(/#define __NR_(\w+) (\d+)/g)].map(
        ([, name = '', number]) => [name, Number(number)] as const,
      ),
    );
    const script = `
import json, system_calls as s
tables = [s.ALLOWED, {k: v[0] for k, v in s.CHECKED.items()}, s.METADATA, s.NETWORK, s.REFUSED, s.FALLS_BACK]
print(json.dumps({n: v[0] for t in tables for n, v in t.items()}))`;
    const listed = JSON.parse(runPython(script)) as Record<string, number>;
    for (const [name, number] of Object.entries(listed)) {
      if (known.has(name)) expect([name, number]).toEqual([name, known.get(name)]);
    }
  });
});

describe('the program for the kernel', () => {
  it('answers every number as the list does, on both machines, in few steps', () => {
    // A machine of its own runs the program; the list is read here once more, number by number.
    const script = `
import struct, seccomp, system_calls as s
ALLOW, EPERM, ENOSYS, KILL = 0x7fff0000, 0x50001, 0x50026, 0x80000000
def run(code, number, architecture, arguments=(0,) * 6):
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments)
    at = steps = value = 0
    while True:
        operation, yes, no, k = code[at]
        at += 1; steps += 1
        if operation == 0x20: value = struct.unpack_from("<I", data, k)[0]
        elif operation == 0x54: value &= k
        elif operation == 0x05: at += k
        elif operation == 0x06: return k, steps
        else: at += yes if {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[operation] else no
most = 0
for machine, (column, architecture) in seccomp.ARCHITECTURES.items():
    for network in (False, True):
        for metadata in (False, True):
            raw = seccomp.program(machine, network, metadata)
            code = list(struct.iter_unpack("<HBBI", raw))
            wanted = {}
            for table, answer in ((s.ALLOWED, ALLOW), (s.METADATA, ALLOW if metadata else EPERM),
                                  (s.NETWORK, ALLOW if network else EPERM), (s.REFUSED, EPERM)):
                for numbers in table.values(): wanted[numbers[column]] = answer
            checked = {v[0][column] for v in s.CHECKED.values()}
            for number in (*range(2000), 0x3fffffff, 0xffffffff, 0x40000000 + 39):
                if number in checked: continue
                answer, steps = run(code, number, architecture)
                x32 = machine == "x86_64" and number >= 0x40000000
                assert answer == (KILL if x32 else wanted.get(number, ENOSYS)), (machine, number, hex(answer))
                most = max(most, steps)
            assert run(code, 0, 0x40000003)[0] == KILL
            for name, (numbers, *rules) in s.CHECKED.items():
                if numbers[column] is None or (network and name in s.OF_NETWORK): continue
                values = {0, 1, 2, 3, 5, 16, 0x5412, 0x5413, 0x80000, 1 << 32, 1 << 40 | 1, 0x10000011, 0x8011}
                for rule in rules: values |= set(getattr(rule, "values", ()))
                for a in values:
                    for place in range(6):
                        arguments = [0] * 6
                        for rule in rules: arguments[rule.argument] = sorted(getattr(rule, "values", (0,)))[0]
                        arguments[place] = a
                        refusal = next((r.otherwise for r in rules if not r.accepts(arguments[r.argument])), None)
                        answer, steps = run(code, numbers[column], architecture, arguments)
                        assert answer == (ALLOW if refusal is None else 0x50000 | refusal), (name, arguments)
print(most)`;
    expect(Number(runPython(script))).toBeLessThan(20);
  });
});

describe('a trace', () => {
  it('counts the calls of sessions and of what they start, and nobody else’s', () => {
    const trace = `
7 openat(AT_FDCWD, ""..., O_RDONLY) = 3
8 prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=400, filter=0x7f}) = 0
7 socket(AF_INET, SOCK_STREAM, 0) = 4
8 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
9 write(1, ""..., 1) = 1
8 <... clone resumed>, child_tidptr=0x7f) = 2 /* 9 in strace's PID NS */
9 read(0, ""..., 1) = 1
8 +++ exited with 0 +++
8 mount("", "", "", 0, NULL) = 0`;
    expect([...callsOfSessions(trace)]).toEqual([
      ['clone', 1],
      ['read', 1],
    ]);
  });

  it('of all exercises has no call that is not listed', (context) => {
    if (findCommand('strace') === undefined) return context.skip('strace is not installed');
    expect(missingCalls('landlock')).toEqual([]);
  }, 600_000);
});

function runPython(script: string): string {
  return execFileSync(python, ['-c', script], {
    encoding: 'utf8',
    env: { PYTHONPATH: pythonSources, PYTHONDONTWRITEBYTECODE: '1' },
  });
}

const recorder = join(import.meta.dirname, '../../bin/record-calls.js');

/** Names of calls that are missing from the list, as the recorder finds them; what else it says, where it fails. */
function readMissing(text: string): readonly string[] {
  const found = /^missing: (.*)$/m.exec(text)?.[1];
  if (found === undefined) return [text];
  return found === 'none' ? [] : found.split(' ');
}

function missingCalls(tier: string): readonly string[] {
  if (findCommand('strace') === undefined) return ['unknown: strace is not installed'];
  return readMissing(spawnSync('node', [recorder, '--tier', tier], { encoding: 'utf8' }).stdout);
}
