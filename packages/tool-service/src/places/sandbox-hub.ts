/**
 * The sandbox of a tool service: opened when the first tool needs it, and shared with the processes of
 * tools, so that one of them that ends takes no sandbox along, and needs none to start again.
 */
import { randomBytes } from 'node:crypto';
import type { LocalSandbox } from '@saccade/sandbox';
import { openSandboxService } from '@saccade/sandbox/service';
import { type LazySandbox, lazySandbox } from './lazy-sandbox.ts';

/** Where processes of this machine find the sandbox. */
export interface SandboxAddress {
  readonly url: string;
  readonly token: string;
}

/** Sessions of a process that ended are closed after this time. */
const IDLE_SECONDS = 60;

export class SandboxHub {
  /** The sandbox, for tools in this process. */
  readonly sandbox: LazySandbox<LocalSandbox>;
  #service: Promise<{ readonly address: SandboxAddress; close(): Promise<void> }> | undefined;

  /** @param openSandbox is called once; again only where it failed */
  constructor(openSandbox: () => Promise<LocalSandbox>) {
    this.sandbox = lazySandbox(openSandbox);
  }

  /** Where to find the sandbox, on the loopback and with a token of its own. */
  async address(): Promise<SandboxAddress> {
    this.#service ??= this.#serve().catch((error: unknown) => {
      this.#service = undefined;
      throw error;
    });
    return (await this.#service).address;
  }

  async dispose(): Promise<void> {
    const service = await this.#service?.catch(() => undefined);
    // The service disposes of the sandbox itself.
    await (service?.close() ?? this.sandbox.dispose());
  }

  async #serve() {
    const sandbox = await this.sandbox.opened();
    const token = randomBytes(32).toString('hex');
    const service = await openSandboxService({ sandbox, token, idleSeconds: IDLE_SECONDS });
    return { address: { url: service.url, token }, close: () => service.drain(0) };
  }
}
