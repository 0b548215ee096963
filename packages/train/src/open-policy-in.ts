/** Opens the policy of a directory, whose adapter may have its base on a hub. */
import { type EventSink, UnsupportedError } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type LocalPolicy, loadLocalPolicy } from '@saccade/policy';
import { fetchModel } from '@saccade/policy/models';
import { hasRecord, readRecord } from '@saccade/tinker';
import { hubOf } from './hub.ts';

/**
 * @throws UnsupportedError if a server elsewhere keeps the weights
 * @throws DataError if the directory is damaged, or an adapter's base is nowhere
 */
export async function openPolicyIn(
  directory: string,
  device: Device,
  onEvent: EventSink = () => {},
): Promise<LocalPolicy> {
  if (hasRecord(directory)) {
    const { uri, server } = await readRecord(directory);
    throw new UnsupportedError(
      `The weights of ${directory} are not here: ${server} keeps them as ${uri}. Save them there in ` +
        'Hugging Face layout, and open that directory.',
    );
  }
  return await loadLocalPolicy({
    device,
    directory,
    findBase: (name, revision = 'main') =>
      fetchModel({ ...hubOf(process.env), onEvent }, { name, revision }),
  });
}
