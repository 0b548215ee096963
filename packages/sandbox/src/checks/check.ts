/** The building blocks of the contract's checks. */
import { strict as assert } from 'node:assert';
import { crc32, deflateSync } from 'node:zlib';
import type { Outcome } from '../outcome.ts';
import type { Sandbox, Session, SessionOptions } from '../session.ts';

/** One check of `sandboxChecks`, for any test runner. */
export interface SandboxCheck {
  /** The sentence it proves. */
  readonly name: string;
  run(sandbox: Sandbox): Promise<void>;
}

/** A PNG whose pixel (x, y) is (x, y, 7): coordinates can be read off any crop of it. */
export function coordinateImage(width: number, height: number): Uint8Array {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows.set([x & 255, y & 255, 7], y * (1 + 3 * width) + 1 + 3 * x);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32BE(data.length, 0);
    sizes.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([sizes.subarray(0, 4), body, sizes.subarray(4)]);
  };
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Opens a session for `use` and disposes of it. */
export async function inSession<Result>(
  sandbox: Sandbox,
  use: (session: Session) => Promise<Result>,
  options?: SessionOptions,
): Promise<Result> {
  const session = await sandbox.open(options);
  try {
    return await use(session);
  } finally {
    await session.dispose();
  }
}

export function expectKind(outcome: Outcome, kind: Outcome['kind']): Outcome {
  const said = `${outcome.error?.type}: ${outcome.error?.message}\n${outcome.stderr}`;
  assert.equal(outcome.kind, kind, `expected ${kind}, got ${outcome.kind}: ${said}`);
  return outcome;
}

export async function expectOutput(session: Session, code: string, stdout: string): Promise<void> {
  assert.equal(expectKind(await session.execute(code), 'ok').stdout, stdout);
}

/** Kills the session and leaves the sandbox working. */
export async function expectDeath(
  sandbox: Sandbox,
  code: string,
  kinds: readonly Outcome['kind'][],
): Promise<Outcome> {
  const outcome = await inSession(sandbox, async (session) => {
    const first = await session.execute(code);
    assert.ok(kinds.includes(first.kind), `expected ${kinds.join(' or ')}, got ${first.kind}`);
    expectKind(await session.execute('print(1)'), 'crashed');
    return first;
  });
  await inSession(sandbox, (session) => expectOutput(session, 'print(2)', '2\n'));
  return outcome;
}
