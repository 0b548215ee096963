/** How programs are started that would not end with us by themselves. */
import { findCommand } from '../python-interpreter.ts';

interface Start {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A shell that becomes `command`, with these redirections of descriptors; the kernel ends it when its
 * parent ends, however that comes about. Without `setpriv` (util-linux) it ends when it finds its
 * channel closed.
 *
 * @param file  a path that the redirections may name as `"$0"`
 */
export function endsWithParent(
  command: readonly string[],
  redirections: string,
  file = 'sh',
): Start {
  const setpriv = findCommand('setpriv');
  const guard = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
  return {
    command: '/bin/sh',
    args: ['-c', `exec "$@" ${redirections}`, file, ...guard, ...command],
  };
}
