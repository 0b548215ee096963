/** Python that a model wrote, in a session of its own: it keeps variables, and images come back. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';

// The first call makes a Python environment, which takes a minute; progress is an event.
const { python } = await ensurePython(join(tmpdir(), 'saccade-sandbox-python'), {
  onEvent: (event) => event.kind === 'progress' && console.error(event.note ?? event.stage),
});
const sandbox = await openSandbox({ python, onEvent: console.warn });
const session = await sandbox.open({
  images: [{ name: 'image_clue_0', encoded: coordinateImage(200, 120) }],
});
await session.execute('part = image_clue_0.crop((40, 30, 96, 86))');
const shown = await session.execute('part.resize((112, 112)).show()\nprint(part.size)');
const failed = await session.execute('1 / 0');
console.log(`${shown.kind}: ${shown.stdout.trim()}, ${shown.images.length} image`);
console.log(`${failed.kind}: ${failed.error?.message}, isolated by ${failed.tier}`);
const [image] = shown.images;
if (image?.origin === undefined || failed.kind !== 'exception') throw new Error('not as expected');
await session.dispose();
await sandbox.dispose();
