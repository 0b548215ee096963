/** Output that nobody reads any more, as behind `| head`. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));

it('ends without a word when the reader of its output is gone', async () => {
  const child = spawn(process.execPath, [bin, '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, said }).toEqual({ code: 0, said: '' });
});
