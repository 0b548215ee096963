/** Where a checkpoint or a data set comes from: a path, or a repository of a hub at a revision. */
import { ConfigError } from '@saccade/core';

/** A directory of this machine, or a model of a hub: `hf:owner/name@revision`. */
export type ModelSource =
  | { readonly kind: 'directory'; readonly directory: string }
  | { readonly kind: 'hub'; readonly name: string; readonly revision: string };

/** A path of this machine, or a repository of a hub. */
export type Source =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'hub'; readonly name: string; readonly revision: string };

const PREFIX = 'hf:';
/** Before the name of a data set, as in the addresses of its page. */
const DATASETS = 'datasets/';
/** Owner and name; the oldest models have no owner. */
const NAME = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/;
const DEFAULT_REVISION = 'main';

/**
 * Reads a source as a setting gives it: a path, `hf:owner/name`, or `hf:owner/name@revision`.
 *
 * @param field  the setting, for messages
 * @throws ConfigError  for a name of a hub that is none
 */
export function parseModelSource(from: string, field: string): ModelSource {
  if (!from.startsWith(PREFIX)) return { kind: 'directory', directory: from };
  const [name = '', revision = DEFAULT_REVISION, ...rest] = from.slice(PREFIX.length).split('@');
  if (NAME.test(name) && revision !== '' && rest.length === 0) {
    return { kind: 'hub', name, revision };
  }
  throw new ConfigError(
    field,
    `${field}: expected hf:owner/name or hf:owner/name@revision, got ${JSON.stringify(from)}.`,
  );
}

/**
 * Reads the source of a data set: a path, `hf:datasets/owner/name`, or the same with `@revision`.
 *
 * @param field  the setting, for messages
 * @throws ConfigError  for a name of a hub that is none
 */
export function parseSource(from: string, field: string): Source {
  if (!from.startsWith(PREFIX)) return { kind: 'path', path: from };
  const rest = from.slice(PREFIX.length);
  const plain = rest.startsWith(DATASETS) ? rest.slice(DATASETS.length) : rest;
  const [name = '', revision = DEFAULT_REVISION, ...more] = plain.split('@');
  if (NAME.test(name) && revision !== '' && more.length === 0) {
    return { kind: 'hub', name, revision };
  }
  throw new ConfigError(
    field,
    `${field}: expected hf:datasets/owner/name or hf:datasets/owner/name@revision, got ` +
      `${JSON.stringify(from)}.`,
  );
}

/** True of a name that a hub may have, such as `owner/name`. */
export function isHubName(name: string): boolean {
  return name.includes('/') && NAME.test(name);
}
