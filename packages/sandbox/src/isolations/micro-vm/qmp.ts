/** The few orders we give to QEMU over its control socket (QMP: one JSON object a line). */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';

interface Reply {
  readonly return?: unknown;
  readonly error?: { readonly desc?: string };
  readonly event?: string;
  readonly QMP?: unknown;
}

const answerMs = 30_000;

export class MachineControl {
  readonly #socket: Socket;
  readonly #replies: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#replies = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** @throws SandboxError if nobody comes to listen at `path` */
  static async open(path: string): Promise<MachineControl> {
    const end = performance.now() + answerMs;
    let socket = await tryConnect(path);
    while (socket instanceof Error) {
      if (performance.now() > end) throw new SandboxError(`QEMU: ${socket.message}`);
      await pause(5);
      socket = await tryConnect(path);
    }
    socket.on('error', () => {}); // the end of the lines tells
    const control = new MachineControl(socket);
    await control.#next(); // its greeting
    await control.run('qmp_capabilities');
    return control;
  }

  /** The machine's answer to an order. @throws SandboxError if it refuses */
  async run(order: string, options: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.#socket.write(`${JSON.stringify({ execute: order, arguments: options })}\n`);
    for (;;) {
      const reply = await this.#next();
      if (reply.event !== undefined) continue;
      if (reply.error === undefined) return reply.return;
      throw new SandboxError(`QEMU refused ${order}: ${reply.error.desc ?? 'it says not why'}.`);
    }
  }

  async #next(): Promise<Reply> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fact = `QEMU did not answer within ${answerMs / 1000} s.`;
      timer = setTimeout(() => reject(new SandboxError(fact)), answerMs);
    });
    try {
      const { value, done } = await Promise.race([this.#replies.next(), late]);
      if (done) throw new SandboxError('QEMU closed its control socket.');
      return JSON.parse(value) as Reply;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function tryConnect(path: string): Promise<Socket | Error> {
  const socket = connect(path);
  return await new Promise((resolve) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', resolve);
  });
}
