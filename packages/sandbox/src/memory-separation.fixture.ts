/**
 * A sandbox with tenants whose every byte is known, for a test that looks for them in the memory of
 * others. Runs in a process of its own, so that it can be an ordinary user's.
 */
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { makeClips } from './clips.fixture.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import type { Session } from './session.ts';
import type { LocalTier } from './tiers.ts';

const noise = `
import os
part = np.frombuffer(os.urandom(300 * 200 * 3), np.uint8).reshape(200, 300, 3)
Image.fromarray(part).show()`;
/** Twenty pixels as Pillow keeps them. */
const pixels = `
row = np.asarray(image)[120, 40:60]
print(np.concatenate([row, np.full((20, 1), 255, np.uint8)], 1).tobytes().hex())`;

/** Speaks JSON on stdout: processes before, then what the tenants have; waits for a line in between. */
export async function serveTenants(python: string, tier: LocalTier): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const tell = async (value: unknown): Promise<void> => {
    process.stdout.write(`${JSON.stringify(value)}\n`);
    await lines.next();
  };
  const clip = (await makeClips(python)).get('all-keys.avi')?.encoded;
  if (clip === undefined) throw new Error('There is no video.');
  const sandbox = await openSandbox({ python, isolation: tier, unsafe: true });
  const held: Session[] = [];
  try {
    await tell({ server: sandbox.serverPid });
    const needles: Record<string, string> = {};
    for (const mode of ['persistent', 'transactional', 'ended'] as const) {
      const { session, own } = await openTenant(sandbox, clip, mode);
      for (const [name, value] of Object.entries(own)) needles[`${mode}: ${name}`] = value;
      if (mode === 'ended') await session.dispose();
      else held.push(session);
    }
    await tell({ needles });
    for (let index = 0; index < 2; index++) held.push(await sandbox.open());
    const [fresh] = held.slice(-1);
    await fresh?.execute('print(1)');
    await tell({ opened: 2 });
  } finally {
    await Promise.all(held.map((session) => session.dispose()));
    await sandbox.dispose();
  }
}

async function openTenant(
  sandbox: LocalSandbox,
  clip: Uint8Array,
  mode: 'persistent' | 'transactional' | 'ended',
): Promise<{ session: Session; own: Record<string, string> }> {
  const maker = await sandbox.open();
  const png = (await maker.execute(noise)).images[0]?.png;
  await maker.dispose();
  if (png === undefined) throw new Error('There is no image.');
  // A tail that makes the clip this tenant's.
  const tail = randomBytes(64);
  const film = Buffer.concat([clip, tail]);
  const name = `image_${randomBytes(12).toString('hex')}`;
  const session = await sandbox.open({
    mode: mode === 'ended' ? 'persistent' : mode,
    images: [{ name, encoded: png }],
    videos: [{ name: 'film', encoded: film }],
  });
  const [code, output] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  const reversed = [...output].reverse().join('');
  const ran = await session.execute(
    `secret = "${code}"\nimage = ${name}\nfilm[1]\nimage.rotate(90).show()\n` +
      `print("${reversed}"[::-1])${pixels}`,
  );
  const [printed, row] = ran.stdout.split('\n');
  if (printed !== output || row === undefined) throw new Error(`${ran.kind}: ${ran.stderr}`);
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const shown = ran.images[0]?.png ?? new Uint8Array();
  return {
    session,
    own: {
      'encoded image': hex(png.subarray(png.length >> 1).subarray(0, 48)),
      'decoded image': row,
      'encoded video': hex(tail),
      'name of the image': hex(Buffer.from(name)),
      code: hex(Buffer.from(code)),
      output: hex(Buffer.from(output)),
      'returned image': hex(shown.subarray(shown.length >> 1).subarray(0, 48)),
    },
  };
}
