/** Opens a published checkpoint for a command, outside of a run. */
import { resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import { hasAdapter, hasWeights, type LocalPolicy, loadLocalPolicy } from '@saccade/policy';
import { fetchModel, parseModelSource } from '@saccade/policy/models';
import { hubOf, openBackend } from '@saccade/train';

/**
 * The policy of `from`, a directory or `hf:owner/name@revision`, on a device of its own, and the
 * directory that it is in.
 *
 * @throws ConfigError  if it is an adapter alone, or there is no such model
 * @throws DataError    if it is damaged
 */
export async function openCheckpoint(
  from: string,
  options: {
    readonly backend: string;
    readonly dtype: 'f32' | 'bf16';
    readonly onEvent: EventSink;
  },
): Promise<{ readonly policy: LocalPolicy; readonly directory: string }> {
  const { backend, dtype, onEvent } = options;
  const source = parseModelSource(from, 'policy');
  const directory =
    source.kind === 'directory'
      ? resolve(source.directory)
      : await fetchModel({ ...hubOf(process.env), onEvent }, source);
  if (hasAdapter(directory) && !hasWeights(directory)) {
    throw new ConfigError(
      'policy',
      `policy: ${directory} has an adapter without its base. Save it merged, or compare the base.`,
    );
  }
  const device = await openBackend(backend);
  try {
    return { policy: await loadLocalPolicy({ device, directory, dtype }), directory };
  } catch (error) {
    device.dispose();
    throw error;
  }
}
