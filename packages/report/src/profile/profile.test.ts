import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProfiledSpan } from '@saccade/core';
import { inspectRun, readProfile, type StoredProfile, writeProfile } from '@saccade/run-store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drawProfilePage } from './profile-page.ts';
import { describeProfile, profileRows } from './profile-rows.ts';
import { writeProfilePage } from './write-profile-page.ts';

const work = (
  name: string,
  seconds: number,
  spans: readonly ProfiledSpan[] = [],
): ProfiledSpan => ({
  ...{ name, kind: 'work', seconds, count: 3, spans },
});

const stored: StoredProfile = {
  what: 'a <b>run</b>, seed 1',
  startedAt: '2026-01-02T03:04:05.678Z',
  areLaunchesBlocking: true,
  processorSeconds: { user: 12, system: 3 },
  garbageSeconds: 0.5,
  profile: {
    seconds: 10,
    root: {
      ...{ name: 'run', kind: 'stage', seconds: 0, count: 1 },
      spans: [
        {
          ...{ name: 'cold start', kind: 'stage', seconds: 0, count: 1 },
          spans: [work('tensor and tape/forward', 1, [work('kernels/gemm', 4)])],
        },
        {
          ...{ name: 'step', kind: 'stage', seconds: 0, count: 1 },
          spans: [
            work('kernels/gemm', 1.5),
            work('kernels/gemm backward', 0.5),
            {
              ...{ name: 'sandbox/execute', kind: 'elsewhere', seconds: 2, count: 64 },
              ...{ inFlightSeconds: 37, spans: [] },
            },
            { name: 'waiting/step', kind: 'wait', seconds: 0.99, count: 0, spans: [] },
            work('tokens/encode', 0.01),
          ],
        },
      ],
    },
  },
};

describe('the rows of a profile', () => {
  it('add up what has one name in all stages, groups first, largest first', () => {
    const rows = profileRows(stored).map(({ name, isGroup, cells }) => [isGroup, name, ...cells]);
    expect(rows).toEqual([
      [true, 'kernels', '60.0 %', '6.00', '9', ''],
      [false, 'gemm', '55.0 %', '5.50', '6', ''],
      [false, 'gemm backward', '5.0 %', '0.500', '3', ''],
      [true, 'sandbox', '20.0 %', '2.00', '64', '37.0'],
      [false, 'execute', '20.0 %', '2.00', '64', '37.0'],
      [true, 'tensor and tape', '10.0 %', '1.00', '3', ''],
      [false, 'forward', '10.0 %', '1.00', '3', ''],
      [true, 'waiting', '9.9 %', '0.990', '', ''],
      [false, 'step', '9.9 %', '0.990', '', ''],
      [true, 'tokens', '0.1 %', '0.010', '3', ''],
      [false, 'encode', '0.1 %', '0.010', '3', ''],
    ]);
  });

  it('come with what was profiled and how', () => {
    expect(describeProfile(stored).join(' ')).toMatch(
      /10\.0 s by the clock\. Each kernel ran while JavaScript waited.* 15\.0 s of this process, 1\.50 at a time/,
    );
  });
});

describe('the page of a profile', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'saccade-profile-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('draws spans as wide as their seconds, under those that they were in', async () => {
    writeProfile(directory, stored);
    const page = await readFile(writeProfilePage(directory), 'utf8');
    const frames = [
      ...page.matchAll(
        /<title>([^:<]+): ([^<]+)<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g,
      ),
    ].map(([, name, about, x, y, width]) => [name, about, Number(x), Number(y), Number(width)]);
    // 1120 units for 10 s, a unit of them left free between neighbors; a row is 23 units high.
    expect(frames.slice(0, 4)).toEqual([
      ['run', '100.0 %, 10.0 s, 1 times', 0, 0, 1119],
      ['cold start', '50.0 %, 5.00 s, 1 times', 0, 23, 559],
      ['tensor and tape/forward', '50.0 %, 5.00 s, 3 times', 0, 46, 559],
      ['kernels/gemm', '40.0 %, 4.00 s, 3 times', 0, 69, 447],
    ]);
    expect(frames[4]).toEqual(['step', '50.0 %, 5.00 s, 1 times', 560, 23, 559]);
    // Too narrow to be seen: in the table alone.
    expect(frames.slice(0, 10).map(([name]) => name)).not.toContain('tokens/encode');
    // Each stage has a graph of its own too.
    expect(page.match(/<svg class="flame"/g)).toHaveLength(3);
  });

  it('escapes what it shows, and loads and runs nothing', () => {
    const page = drawProfilePage(stored);
    expect(page).toContain('a &lt;b&gt;run&lt;/b&gt;, seed 1');
    expect(page).not.toMatch(/<script|javascript:|https?:\/\/|style=/i);
    expect(page).toContain('default-src &#39;none&#39;; style-src');
  });

  it('is of nothing but a profile: damage is reported with the remedy', async () => {
    writeProfile(directory, stored);
    expect(readProfile(directory)).toEqual({ value: stored, damage: [] });
    const path = join(directory, 'profile.json');
    const whole = await readFile(path, 'utf8');
    const changed = whole.replace('"seconds": 10', '"seconds": 11');
    for (const text of ['', '{}', '[]', whole.slice(0, -20), changed]) {
      await writeFile(path, text);
      const { value, damage } = readProfile(directory);
      expect(value).toBeUndefined();
      expect(damage[0]).toMatchObject({ path, remedy: expect.stringMatching(/--profile/) });
      expect(() => writeProfilePage(directory)).toThrow(/profile\.json/);
      expect((await inspectRun(directory)).damage.map((one) => one.path)).toContain(path);
    }
  });
});
