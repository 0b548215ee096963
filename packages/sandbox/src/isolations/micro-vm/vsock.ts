/** The way into a guest that listens on a port of its own, through Firecracker's Unix socket. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';

export interface GuestAddress {
  /** The `uds_path` of the machine. */
  readonly socket: string;
  /** Where the guest listens; `python/connections.py` answers there. */
  readonly port: number;
  readonly seconds: number;
  /** Aborted when the machine has ended. */
  readonly ended: AbortSignal;
}

/** Bytes of randomness that a guest gets with each connection. */
const entropyBytes = 64;
const longestLine = 4_096;
const retryMs = 10;

/** The guest was reached and says that it cannot continue. */
class GuestRefusal extends SandboxError {}

/** The time of a try was over before it came to anything. */
class Silence extends SandboxError {
  constructor() {
    super('it is silent');
  }
}

/**
 * Tries until the guest listens: before that, Firecracker closes the connection.
 *
 * @throws SandboxError with what came last, if nobody listens in time, or if the guest refuses
 */
export async function connectGuest(address: GuestAddress): Promise<Socket> {
  const { seconds, ended } = address;
  const end = performance.now() + seconds * 1000;
  for (let last = ''; ; await pause(retryMs)) {
    if (ended.aborted) throw new SandboxError('its process ended');
    const left = end - performance.now();
    if (left <= 0) {
      throw new SandboxError(`no server in the guest answered within ${seconds} s (${last})`);
    }
    try {
      return await tryConnect(address, left);
    } catch (error) {
      if (error instanceof GuestRefusal) throw error;
      // The last try has hardly any time: it says less than the one before.
      if (last === '' || !(error instanceof Silence)) last = (error as Error).message;
    }
  }
}

async function tryConnect(
  { socket: path, port, ended }: GuestAddress,
  milliseconds: number,
): Promise<Socket> {
  const socket = connect(path);
  const give = (error: Error): void => void socket.destroy(error);
  const onEnd = (): void => give(new SandboxError('its process ended'));
  const timer = setTimeout(() => give(new Silence()), milliseconds);
  ended.addEventListener('abort', onEnd, { once: true });
  socket.on('error', () => {}); // told where lines are awaited
  try {
    socket.write(`CONNECT ${port}\n`);
    const accepted = await readLine(socket);
    if (!/^OK \d+$/.test(accepted)) throw new SandboxError(`it said ${JSON.stringify(accepted)}`);
    const greeting = {
      seconds: Date.now() / 1000,
      entropy: randomBytes(entropyBytes).toString('hex'),
    };
    socket.write(`${JSON.stringify(greeting)}\n`);
    refuseUnready(await readLine(socket));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', onEnd);
  }
}

function refuseUnready(line: string): void {
  let answer: { readonly ready?: unknown; readonly error?: unknown };
  try {
    answer = JSON.parse(line) as typeof answer;
  } catch {
    throw new GuestRefusal(`the guest answered ${JSON.stringify(line.slice(0, 200))}`);
  }
  if (answer.ready === true) return;
  throw new GuestRefusal(`the guest could not be renewed: ${String(answer.error).slice(0, 500)}`);
}

/** Without its end; what follows stays in the socket. */
function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let kept = Buffer.alloc(0);
    const finish = (tell: () => void): void => {
      socket.off('readable', onReadable).off('close', onClose);
      tell();
    };
    const onReadable = (): void => {
      const piece = socket.read() as Buffer | null;
      if (piece === null) return;
      kept = Buffer.concat([kept, piece]);
      const index = kept.indexOf('\n');
      if (index < 0 && kept.length <= longestLine) return;
      if (index < 0 || index > longestLine) {
        finish(() => reject(new GuestRefusal('its line is too long')));
        return;
      }
      finish(() => resolve(kept.toString('latin1', 0, index)));
      const rest = kept.subarray(index + 1);
      if (rest.length > 0) socket.unshift(rest);
    };
    const onClose = (): void => {
      const fact = socket.errored?.message ?? 'the connection was closed';
      finish(() => reject(new SandboxError(fact)));
    };
    socket.on('readable', onReadable).on('close', onClose);
    if (socket.destroyed) onClose();
    else onReadable();
  });
}
