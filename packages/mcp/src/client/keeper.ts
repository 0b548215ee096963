/**
 * The command that starts a server so that it ends with this process, however this one ends.
 *
 * A shell leads a process group of its own, runs the server in it, and waits for the end of a pipe
 * that only this process holds: when the kernel closes it, also after SIGKILL, the whole group is
 * killed. So a server that ignores the end of its input, or that npx started, goes too.
 */
const script = `exec 4<&0
"$@" <&4 3<&- 4<&- &
server=$!
exec 4<&- 0</dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-
wait "$server"`;

export interface KeptCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether descriptor 3 has to be a pipe, and the process the leader of a group. */
  readonly isKept: boolean;
}

/** Windows has no such shell: there the server sees the end of its input, and no more. */
export function keptCommand(
  command: string,
  args: readonly string[],
  platform: NodeJS.Platform = process.platform,
): KeptCommand {
  if (platform === 'win32') return { command, args, isKept: false };
  return {
    command: '/bin/sh',
    args: ['-c', script, 'saccade-mcp', command, ...args],
    isKept: true,
  };
}
