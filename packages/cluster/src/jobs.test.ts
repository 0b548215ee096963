/** Jobs and processes of a cluster, as real processes: they outlive their starter, and end whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identifyProcess, isRunning } from '@saccade/core/processes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endCluster } from './end-cluster.ts';
import { findJob, type Job, listJobs, startJob, stopJob } from './jobs.ts';
import { followLog, lastLines, listLogs, logFile } from './logs.ts';
import { MARK } from './plan.ts';
import { findMarked, waitUntil } from './processes.ts';
import { type ClusterPaths, findCluster, pathsOf, readState } from './state.ts';

let folder: string;
let paths: ClusterPaths;
let id: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-cluster-jobs-'));
  paths = pathsOf(folder, 'mine');
  mkdirSync(paths.logs, { recursive: true });
  id = `test-${process.pid}-${Math.random()}`;
  writeFileSync(paths.plan, JSON.stringify({ id, limits: { grace_seconds: 2 } }));
});
afterEach(async () => {
  await endCluster(paths);
  expect(findMarked(id)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const start = (script: string): Job =>
  startJob(paths, id, {
    command: [process.execPath, '-e', script],
    cwd: folder,
    environment: process.env,
  });

const isOver = (name: string) => () => findJob(paths, name).state !== 'running';

it('keeps the exit status of a job, and its log', async () => {
  const good = start('console.log("done")');
  const bad = start('console.error("broken"); process.exit(7)');
  expect([good.name, bad.name]).toEqual(['job-1', 'job-2']);
  await waitUntil(() => isOver('job-1')() && isOver('job-2')(), 20);
  expect(listJobs(paths).map(({ state, status }) => [state, status])).toEqual([
    ['finished', 0],
    ['failed', 7],
  ]);
  expect(lastLines(logFile(paths, 'job-2'), 1)).toEqual(['broken']);
  expect(listLogs(paths)).toEqual(['job-1', 'job-2']);
  expect(() => logFile(paths, 'job-3')).toThrow('There is no log of job-3. Did you mean job-1?');
  expect(() => findJob(paths, 'job-3')).toThrow('There is no job job-3. Known: job-1, job-2.');
});

it('passes on a log to its last byte, and no byte twice', async () => {
  const { name, log } = start(
    'let n = 0; const t = setInterval(() => { console.log("line " + n++); if (n === 60) clearInterval(t) }, 10)',
  );
  let text = '';
  const onText = (piece: string): void => {
    text += piece;
  };
  await followLog(log, { from: 0, onText, isOver: isOver(name) });
  expect(text).toBe(Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join(''));
});

it('stops a job as Ctrl-C does, and kills one that does not listen', async () => {
  const polite = start(
    'process.on("SIGINT", () => { console.log("saved"); process.exit(130) }); setInterval(() => {}, 1e3); console.log("on")',
  );
  const deaf = start(
    'process.on("SIGINT", () => {}); setInterval(() => {}, 1e3); console.log("on")',
  );
  for (const { log } of [polite, deaf]) {
    expect(await waitUntil(() => lastLines(log, 1)[0] === 'on', 20)).toBe(true);
  }
  expect(await stopJob(paths, polite.name, 20)).toMatchObject({ state: 'failed', status: 130 });
  expect(lastLines(polite.log, 1)).toEqual(['saved']);
  expect(await stopJob(paths, deaf.name, 0.3)).toMatchObject({ state: 'lost' });
  await expect(stopJob(paths, deaf.name, 1)).rejects.toThrow('job-2 does not run: it was lost.');
});

it('ends jobs and whatever carries the mark of the cluster, and nothing else', async () => {
  const deaf = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e3); console.log("on")';
  const child = async (variables: Record<string, string>) => {
    const started = spawn(process.execPath, ['-e', deaf], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(started.stdout, 'data');
    return started;
  };
  const marked = await child({ [MARK]: id });
  const other = await child({ [MARK]: `${id}0` });
  const job = start('setInterval(() => {}, 1e3)');
  try {
    expect(await waitUntil(() => findMarked(id).length === 3, 20)).toBe(true);
    const report = await endCluster(paths);
    expect(report).toEqual({ wasUp: true, jobs: ['job-1'], leftovers: 1 });
    expect(isRunning(job.process)).toBe(false);
    expect(marked.signalCode ?? 'gone').toMatch(/SIGKILL|gone/);
    expect(isRunning(identifyProcess(other.pid ?? 0))).toBe(true);
    expect(await endCluster(paths)).toEqual({ wasUp: false, jobs: [], leftovers: 0 });
  } finally {
    other.kill('SIGKILL');
  }
}, 60_000);

it('finds the only cluster, and asks which one where there are several', () => {
  expect(findCluster(folder).directory).toBe(paths.directory);
  mkdirSync(join(folder, 'other'));
  writeFileSync(join(folder, 'other', 'plan.json'), '{}');
  expect(() => findCluster(folder)).toThrow(
    /several clusters in .*: mine, other. Choose one with --name/,
  );
  expect(() => findCluster(folder, 'third')).toThrow(/no cluster third in .*Known: mine, other/);
  expect(() => findCluster('/nowhere')).toThrow(/There is no cluster in \/nowhere/);
});

it('says that a state is damaged, and ends the cluster all the same', async () => {
  writeFileSync(paths.state, '{"format": 1');
  expect(() => readState(paths)).toThrow(/is not JSON.*End what is left/);
  writeFileSync(paths.state, '{"format": 2}');
  expect(() => readState(paths)).toThrow(/is no state of a cluster: format is not valid/);
  expect(await endCluster(paths)).toMatchObject({ wasUp: false });
  expect(readFileSync(paths.state, 'utf8')).toBe('{"format": 2}');
});
