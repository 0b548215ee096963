/** Code runs on this machine, in the strongest tier that holds. */
import { choice, count, flag } from '@saccade/core/settings';
import { z } from 'zod';
import { localTiers } from '../choose-isolation.ts';
import { defaultLimits } from '../limits.ts';
import { openSandbox } from '../open-sandbox.ts';
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
      about: 'Most pixels of an image that code opens or shows.',
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
  }),
  async open({ isolation, unsafe, servers, ...limits }, context) {
    const { python, wallSeconds, sessions, onEvent } = context;
    return await openSandbox({
      python: await python(),
      onEvent,
      maxSessions: sessions,
      limits: { wallSeconds, ...limits },
      isolation,
      unsafe,
      servers,
    });
  },
});
