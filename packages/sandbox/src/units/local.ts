/** Code runs on this machine, in the strongest tier that holds. */
import { choice, count, flag, optionalCount, quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defaultLimits } from '../limits.ts';
import { openSandbox } from '../open-sandbox.ts';
import { localTiers } from '../tiers.ts';
import { defineSandbox } from './sandbox-unit.ts';

const GIB = 1024 ** 3;

export const local = defineSandbox({
  name: 'local',
  description: 'Runs code on this machine, in the strongest isolation that holds when attacked.',
  settings: z.strictObject({
    isolation: choice(['auto', ...localTiers], {
      default: 'auto',
      about: 'The tier to use; auto takes the strongest that holds.',
    }),
    unsafe: flag({
      default: false,
      about: 'Run code as plain processes where nothing isolates: it can use your files.',
    }),
    servers: count({
      min: 1,
      max: 1024,
      default: 1,
      unit: 'processes',
      about: 'Servers that fork sessions, to open them on several processors at once.',
    }),
    sessionsPerServer: optionalCount({
      min: 1,
      max: 1_000_000,
      unit: 'sessions',
      about: 'Sessions of a server before another takes over; unset: one where each has a kernel.',
    }),
    maxRunning: optionalCount({
      min: 1,
      max: 65_536,
      unit: 'executions',
      about: 'Executions at a time; more wait outside their limits; unset: twice the processors.',
    }),
    randomSeed: count({
      min: 0,
      max: 0xffffffff,
      default: 0,
      unit: '32-bit integer',
      about: 'Seed of Python’s random numbers in every session.',
    }),
    memoryBytes: count({
      min: 64 * 1024 * 1024,
      max: 1024 * GIB,
      default: defaultLimits.memoryBytes,
      unit: 'bytes',
      about: 'Address space of each process of a session.',
    }),
    cpuSeconds: count({
      min: 1,
      max: 3600,
      default: defaultLimits.cpuSeconds,
      unit: 'seconds',
      about: 'CPU time of one execution.',
    }),
    imagePixels: count({
      min: 1,
      max: GIB,
      default: defaultLimits.imagePixels,
      unit: 'pixels',
      about: 'Most pixels of an image that code shows.',
    }),
    openedPixels: count({
      min: 1,
      max: GIB,
      default: defaultLimits.openedPixels,
      unit: 'pixels',
      about: 'Most pixels of an image that a task gives or code opens.',
    }),
    imageCount: count({
      min: 0,
      max: 10_000,
      default: defaultLimits.imageCount,
      unit: 'images',
      about: 'Most images that one execution returns.',
    }),
    outputBytes: count({
      min: 0,
      max: GIB,
      default: defaultLimits.outputBytes,
      unit: 'bytes',
      about: 'Bytes kept of each of stdout and stderr of one execution.',
    }),
    imageAspect: quantity({
      min: 1,
      max: 10_000,
      default: defaultLimits.imageAspect,
      unit: 'ratio',
      about: 'Longest over shortest side of an image that one execution returns.',
    }),
    videoBytes: count({
      min: 1,
      max: GIB,
      default: defaultLimits.videoBytes,
      unit: 'bytes',
      about: 'Size of one video of a task.',
    }),
    videoFrames: count({
      min: 1,
      max: 100_000_000,
      default: defaultLimits.videoFrames,
      unit: 'frames',
      about: 'Frames of one video of a task.',
    }),
    fileBytes: count({
      min: 1024,
      max: GIB,
      default: defaultLimits.fileBytes,
      unit: 'bytes',
      about: 'Size of any file that code writes.',
    }),
    diskBytes: count({
      min: 1024 * 1024,
      max: 64 * GIB,
      default: defaultLimits.diskBytes,
      unit: 'bytes',
      about: 'Room for all files of a session, where each has a file system of its own.',
    }),
    files: count({
      min: 16,
      max: 10_000_000,
      default: defaultLimits.files,
      unit: 'files',
      about: 'Files and directories of a session, under the same condition.',
    }),
    openFiles: count({
      min: 16,
      max: 65_536,
      default: defaultLimits.openFiles,
      unit: 'files',
      about: 'Files that code may have open at a time.',
    }),
    processes: count({
      min: 1,
      max: 65_536,
      default: defaultLimits.processes,
      unit: 'processes',
      about: 'Processes and threads of a session.',
    }),
    sessionMemoryBytes: optionalCount({
      min: 64 * 1024 * 1024,
      max: 1024 * GIB,
      unit: 'bytes',
      about: 'Memory of a session as a whole, where it is limited; unset: memoryBytes + diskBytes.',
    }),
  }),
  async open(settings, context) {
    const { isolation, unsafe, servers, sessionsPerServer, maxRunning, ...rest } = settings;
    const { randomSeed: seed, sessionMemoryBytes, ...limits } = rest;
    const { python, wallSeconds, sessions, onEvent } = context;
    const whole = sessionMemoryBytes !== undefined && { sessionMemoryBytes };
    return await openSandbox({
      python: await python(),
      onEvent,
      maxSessions: sessions,
      limits: { wallSeconds, ...limits, ...whole },
      isolation,
      unsafe,
      servers,
      seed,
      ...(sessionsPerServer !== undefined && { sessionsPerServer }),
      ...(maxRunning !== undefined && { maxRunning }),
    });
  },
});
