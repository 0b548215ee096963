/// <reference types="@webgpu/types" preserve="true" />
import { probeForTests } from '@saccade/backend-webgpu/software-gpu';
import { expect, it } from 'vitest';
import { waitOn } from './device-faults.ts';

const probe = await probeForTests();

it.runIf(probe.available)('a wait tells what the device refused, once', async () => {
  const { create } = await import('webgpu');
  const gpu = create([]);
  const device = await (await gpu.requestAdapter())?.requestDevice();
  if (device === undefined) throw new Error('The adapter that was there gives no device.');
  const wait = waitOn('peer', device);
  await wait();
  // A usage of no meaning.
  device.createBuffer({ size: 4, usage: 0xffff });
  await expect(wait()).rejects.toThrow(/peer: its device refused work: .*usage/i);
  await wait();
  device.destroy();
});
