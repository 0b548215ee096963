/** Opens the policy of a directory, whose adapter may have its base on a hub. */
import type { EventSink } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type LocalPolicy, loadLocalPolicy } from '@saccade/policy';
import { fetchModel } from '@saccade/policy/models';
import { hubOf } from './hub.ts';

/** @throws DataError if the directory is damaged, or an adapter's base is nowhere */
export function openPolicyIn(
  directory: string,
  device: Device,
  onEvent: EventSink = () => {},
): Promise<LocalPolicy> {
  return loadLocalPolicy({
    device,
    directory,
    findBase: (name, revision = 'main') =>
      fetchModel({ ...hubOf(process.env), onEvent }, { name, revision }),
  });
}
