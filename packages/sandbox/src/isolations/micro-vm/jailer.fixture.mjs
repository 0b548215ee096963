/**
 * Stands in for Firecracker's jailer in tests: checks its arguments, and does what jailer.md says of folders,
 * control groups and `--new-pid-ns`. It stays the user that it is, and in the file system that there is.
 */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const [folder, ...words] = process.argv.slice(2);
const end = words.indexOf('--');
const known = ['id', 'exec-file', 'uid', 'gid', 'chroot-base-dir', 'resource-limit'];
const groupOptions = ['cgroup-version', 'cgroup', 'parent-cgroup'];
const options = {};
for (let index = 0; index < end; index++) {
  const name = words[index].replace(/^--/, '');
  if (name === 'new-pid-ns') options[name] = true;
  else if ([...known, ...groupOptions].includes(name)) options[name] = words[++index];
  else throw new Error(`Found argument '${words[index]}' which wasn't expected`);
}
for (const name of known) if (!(name in options)) throw new Error(`Argument ${name} is required.`);
if (!/^[A-Za-z0-9-]{1,64}$/.test(options.id)) throw new Error(`Invalid id ${options.id}`);
if (!/^(fsize|no-file)=\d+$/.test(options['resource-limit'])) throw new Error('Invalid limit');
for (const name of ['uid', 'gid']) {
  if (!/^\d+$/.test(options[name]) || options[name] === '0') throw new Error(`Invalid ${name}`);
}
writeFileSync(join(folder, 'jail'), JSON.stringify(options));

const program = realpathSync(options['exec-file']);
const root = join(options['chroot-base-dir'], basename(program), options.id, 'root');
mkdirSync(root, { recursive: true });
copyFileSync(program, join(root, basename(program)));
if (options.cgroup !== undefined) joinGroup();
process.chdir(root);
const child = spawn(`./${basename(program)}`, [...words.slice(end + 1), '--id', options.id], {
  stdio: 'inherit',
});
writeFileSync(`${basename(program)}.pid`, String(child.pid));
// With a name space of its own for Firecracker, the jailer itself is done.
if (options['new-pid-ns']) process.exit(0);

function joinGroup() {
  const [file, value] = options.cgroup.split('=');
  const version = Number(options['cgroup-version']);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type, flags]) =>
      version === 2 ? type === 'cgroup2' : type === 'cgroup' && flags.split(',').includes('memory'),
    )?.[1];
  const group = join(mount, options['parent-cgroup'], options.id);
  if (!existsSync(join(mount, options['parent-cgroup']))) throw new Error(`No parent of ${group}`);
  mkdirSync(group);
  writeFileSync(join(group, file), value);
  writeFileSync(join(group, version === 1 ? 'tasks' : 'cgroup.procs'), String(process.pid));
}
