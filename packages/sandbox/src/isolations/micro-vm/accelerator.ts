/** Whether the processor runs guests here, found by starting one. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { messageOf } from '@saccade/core';

export interface Accelerator {
  readonly name: 'kvm' | 'tcg';
  /** Why it is not KVM. */
  readonly obstacle?: string;
}

/** A kernel without a disk gives up, and with it the machine, well within this. */
const trialMs = 6_000;
const trials = new Map<string, Promise<Accelerator>>();

/** Tried once for each kernel: `/dev/kvm` can be there and yet run no kernel of a distribution's. */
export function findAccelerator(qemu: string, kernel: string): Promise<Accelerator> {
  const known = trials.get(kernel) ?? tryKvm(qemu, kernel);
  trials.set(kernel, known);
  return known;
}

async function tryKvm(qemu: string, kernel: string): Promise<Accelerator> {
  const emulated = (reason: string): Accelerator => ({
    name: 'tcg',
    obstacle: `KVM runs no guests here (${reason}), so QEMU emulates the processor.`,
  });
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch (error) {
    return emulated(messageOf(error));
  }
  const child = spawn(
    qemu,
    [
      ...['-M', 'microvm', '-accel', 'kvm', '-cpu', 'host', '-m', '256', '-nodefaults'],
      ...['-no-user-config', '-display', 'none', '-no-reboot', '-kernel', kernel],
      ...['-append', 'panic=-1'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1_000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), trialMs);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('error', (error) => resolve([1, error.message]));
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  if (code === 0) return { name: 'kvm' };
  const end =
    signal === 'SIGKILL'
      ? `a kernel did not start in ${trialMs / 1000} s`
      : (said.trim().split('\n').at(-1) ?? '');
  return emulated(end === '' ? `QEMU ended with ${signal ?? code}` : end);
}
