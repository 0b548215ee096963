/** A sandbox that can be emptied: while its gate is shut, sessions go on and none is opened. */
import { DrainingError } from '../errors.ts';
import type { Sandbox, Session, SessionOptions } from '../session.ts';

export class GatedSandbox implements Sandbox {
  readonly #sandbox: Sandbox;
  #isShut = false;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  get tier(): string {
    return this.#sandbox.tier;
  }

  get isShut(): boolean {
    return this.#isShut;
  }

  /** Lets new sessions in, or none. */
  shut(isShut: boolean): void {
    this.#isShut = isShut;
  }

  /** @throws DrainingError while it is shut */
  async open(options?: SessionOptions): Promise<Session> {
    if (this.#isShut) throw new DrainingError();
    return await this.#sandbox.open(options);
  }

  stats(): ReturnType<Sandbox['stats']> {
    return this.#sandbox.stats();
  }

  async dispose(): Promise<void> {
    await this.#sandbox.dispose();
  }
}
