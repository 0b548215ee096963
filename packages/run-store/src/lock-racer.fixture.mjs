/** Takes the lock of one directory after another, each at the same instant as its rivals. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockRun } from '../dist/lock.js';

const [directory, name, rivals, races] = process.argv.slice(2);
const deadline = Date.now() + 200_000;
for (let i = 0; i < Number(races); i++) {
  const own = join(directory, String(i));
  writeFileSync(join(directory, `ready-${i}-${name}`), '');
  while (![...rivals].every((rival) => existsSync(join(directory, `ready-${i}-${rival}`)))) {
    if (Date.now() > deadline) process.exit(1);
  }
  try {
    lockRun(own);
    writeFileSync(join(own, `held-${name}`), String(process.pid));
  } catch (error) {
    if (error.code !== 'state') throw error;
  }
}
// The locks are looked at while all who may hold one live.
writeFileSync(join(directory, `done-${name}`), '');
while (![...rivals].every((rival) => existsSync(join(directory, `done-${rival}`)))) {
  if (Date.now() > deadline) process.exit(1);
}
