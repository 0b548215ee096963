/**
 * Stands in for Firecracker in tests: its documented interface, strictly. A machine's "guest" is the real
 * agent as a plain process behind bubblewrap, named by the file that is given as initramfs.
 *
 * First argument: a folder with `faults.json` (what goes wrong at which request); requests are noted in
 * its `requests`. The others are Firecracker's.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

const [folder, ...words] = process.argv.slice(2);
const faults = JSON.parse(readFileSync(join(folder, 'faults.json'), 'utf8'));

/** The fields that we use of the definitions in Firecracker's `firecracker.yaml`; no others pass. */
const limiter = z.strictObject({
  bandwidth: z.object({}).optional(),
  ops: z.object({}).optional(),
});
const schemas = {
  'PUT /machine-config': z.strictObject({
    vcpu_count: z.int().min(1).max(32),
    mem_size_mib: z.int().min(1),
    smt: z.boolean().optional(),
    track_dirty_pages: z.boolean().optional(),
  }),
  'PUT /boot-source': z.strictObject({
    kernel_image_path: z.string(),
    initrd_path: z.string().optional(),
    boot_args: z.string().optional(),
  }),
  'PUT /drives/disk': z.strictObject({
    drive_id: z.literal('disk'),
    is_root_device: z.boolean(),
    is_read_only: z.boolean().optional(),
    path_on_host: z.string().optional(),
    rate_limiter: limiter.optional(),
  }),
  'PUT /entropy': z.strictObject({ rate_limiter: limiter.optional() }),
  'PUT /vsock': z.strictObject({ guest_cid: z.int().min(3), uds_path: z.string() }),
  'PUT /actions': z.strictObject({
    action_type: z.enum(['FlushMetrics', 'InstanceStart', 'SendCtrlAltDel']),
  }),
  'PATCH /vm': z.strictObject({ state: z.enum(['Paused', 'Resumed']) }),
  'PUT /snapshot/create': z.strictObject({
    mem_file_path: z.string(),
    snapshot_path: z.string(),
    snapshot_type: z.enum(['Full', 'Diff']).optional(),
  }),
  'PUT /snapshot/load': z.strictObject({
    snapshot_path: z.string(),
    mem_backend: z.strictObject({
      backend_type: z.enum(['File', 'Uffd']),
      backend_path: z.string(),
    }),
    resume_vm: z.boolean().optional(),
  }),
};

class Fault extends Error {}
const fail = (message) => {
  throw new Fault(message);
};

let state = 'Not started';
const config = {};
const machine = { connections: 0, sent: [] };

function checkOrder(route) {
  const isSetup = /^PUT \/(machine-config|boot-source|drives|entropy|vsock)/.test(route);
  const isLoad = route === 'PUT /snapshot/load';
  if ((isSetup || isLoad) && state !== 'Not started') {
    fail('The requested operation is not supported after starting the microVM.');
  }
  if (isLoad && Object.keys(config).length > 0) {
    fail('Loading a microVM snapshot not allowed after configuring boot-specific resources.');
  }
  const isLater = route === 'PATCH /vm' || route === 'PUT /snapshot/create';
  if (isLater && state === 'Not started') {
    fail('The requested operation is not supported before starting the microVM.');
  }
}

const readable = (path) =>
  existsSync(path) || fail(`Cannot open ${path}: No such file or directory`);

const actions = {
  'PUT /boot-source': ({ kernel_image_path: kernel, initrd_path: initrd }) => {
    readable(kernel);
    readable(initrd);
    if (readFileSync(kernel).toString('latin1', 0, 4) !== '\x7fELF')
      fail('Invalid Elf magic number');
  },
  'PUT /drives/disk': ({ path_on_host: path }) => readable(path),
  'PUT /actions': async ({ action_type: action }) => {
    if (action !== 'InstanceStart') return;
    if (state !== 'Not started') fail('The microVM is already running.');
    const source = config['PUT /boot-source'] ?? fail('Cannot start microvm without kernel.');
    machine.port = Number(source.boot_args.split(' ').at(-1));
    machine.guest = JSON.parse(readFileSync(source.initrd_path, 'utf8'));
    machine.channel = config['PUT /vsock']?.uds_path;
    machine.disk = config['PUT /drives/disk']?.path_on_host;
    await openChannel();
    startAgent();
    state = 'Running';
  },
  'PATCH /vm': ({ state: wanted }) => {
    state = wanted === 'Paused' ? 'Paused' : 'Running';
  },
  'PUT /snapshot/create': ({ mem_file_path: memory, snapshot_path: devices }) => {
    if (state !== 'Paused') fail('The microVM must be paused to be saved.');
    const { guest, port, channel, disk, sent } = machine;
    writeFileSync(memory, JSON.stringify({ guest, sent: Buffer.concat(sent).toString('base64') }));
    writeFileSync(devices, JSON.stringify({ port, channel, disk }));
  },
  'PUT /snapshot/load': async ({
    snapshot_path: devices,
    mem_backend: memory,
    resume_vm: goesOn,
  }) => {
    readable(devices);
    readable(memory.backend_path);
    const { guest, sent } = JSON.parse(readFileSync(memory.backend_path, 'utf8'));
    Object.assign(machine, JSON.parse(readFileSync(devices, 'utf8')), { guest });
    readable(machine.disk);
    await openChannel();
    await replay(Buffer.from(sent, 'base64'));
    state = goesOn ? 'Running' : 'Paused';
  },
};

/** The guest as it was when it was saved: it was greeted, and got and said what it had by then. */
async function replay(bytes) {
  startAgent();
  const socket = await untilConnected();
  socket.write(`${JSON.stringify({ seconds: 0, entropy: '' })}\n`);
  socket.write(bytes);
  let kept = Buffer.alloc(0);
  for await (const piece of socket) {
    kept = Buffer.concat([kept, piece]);
    const start = kept.indexOf('\n') + 1;
    if (start > 0 && kept.length > start + 12) break;
  }
  socket.destroy();
}

async function untilConnected() {
  for (;;) {
    const socket = connect(agentSocket);
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket.on('error', () => {});
    await pause(10);
  }
}

const agentSocket = join(process.cwd(), 'agent');

function startAgent() {
  if (faults.guest === 'never') return;
  const { command, args } = machine.guest;
  const agent = spawn(command, [...args.map((arg) => arg.replaceAll('@ROOM', process.cwd()))], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // As a kernel whose first process ends: it panics, and the machine is over.
  agent.on('close', () => process.exit(0));
}

function openChannel() {
  const server = createServer((host) => {
    host.on('error', () => {});
    let line = '';
    const onData = (piece) => {
      line += piece.toString('latin1');
      if (!line.includes('\n')) return;
      host.off('data', onData);
      host.pause();
      const [, port] = /^CONNECT (\d+)\n$/.exec(line) ?? [];
      machine.connections += 1;
      if (Number(port) !== machine.port || machine.connections <= (faults.early ?? 0)) {
        return host.destroy();
      }
      forward(host);
    };
    host.on('data', onData);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Fault(`Cannot bind ${error.message}`)));
    server.listen(machine.channel, resolve);
  });
}

function forward(host) {
  // At once: a test of what is said must not wait for an agent to start.
  if (faults.babble) return host.write(`OK 1073741824\n${faults.babble}`);
  const guest = connect(agentSocket);
  guest.once('error', () => host.destroy());
  guest.once('connect', () => {
    host.write('OK 1073741824\n');
    if (machine.connections <= (faults.reset ?? 0)) return host.destroySoon();
    let isGreeted = false;
    host.on('data', (piece) => {
      const start = isGreeted ? 0 : piece.indexOf('\n') + 1;
      isGreeted = true;
      machine.sent.push(piece.subarray(start));
    });
    host.pipe(guest).pipe(host);
    host.on('close', () => guest.destroy());
    guest.on('close', () => host.destroy());
  });
}

async function answer(request, body) {
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /') {
    return { app_name: 'Firecracker', id: 'vm', state, vmm_version: '1.16.1' };
  }
  const schema = schemas[route] ?? fail(`Invalid request method and/or path: ${route}.`);
  const { 'content-type': type, 'transfer-encoding': coding } = request.headers;
  if (coding !== undefined || type !== 'application/json') fail('Invalid headers.');
  const { data, error } = schema.safeParse(JSON.parse(body));
  if (error) fail(`The request body is not valid: ${z.prettifyError(error)}`);
  checkOrder(route);
  await actions[route]?.(data);
  config[route] = data;
  return undefined;
}

async function serve(request, response) {
  let body = '';
  for await (const piece of request) body += piece;
  const route = `${request.method} ${request.url}`;
  appendFileSync(join(folder, 'requests'), `${JSON.stringify([route, body])}\n`);
  const fault = faults[route];
  if (fault === 'die') {
    process.stderr.write('a fatal error\n');
    process.exit(148);
  }
  if (fault === 'silent') return;
  if (fault === 'hangup') return request.socket.destroy();
  if (fault === 'garbage') return response.writeHead(500).end('<html>');
  if (fault === 'slow') await pause(300);
  try {
    if (fault === 'refuse') fail(`refused in a test: ${route}`);
    const value = await answer(request, body);
    if (value === undefined) response.writeHead(204).end();
    else response.writeHead(200).end(JSON.stringify(value));
  } catch (error) {
    response.writeHead(400).end(JSON.stringify({ fault_message: error.message }));
  }
}

if (words[0] === '--version') {
  process.stdout.write(`Firecracker v${faults.version ?? '1.16.1'}\n\nexiting successfully\n`);
} else if (words[0] === '--no-api') {
  const file = words[words.indexOf('--config-file') + 1];
  const trial = JSON.parse(readFileSync(file, 'utf8'));
  schemas['PUT /boot-source'].parse(trial['boot-source']);
  schemas['PUT /machine-config'].parse(trial['machine-config']);
  if (faults.trial) process.stderr.write(`${faults.trial}\n`);
  process.exitCode = faults.trial ? 1 : 0;
} else if (faults.start === 'die') {
  process.stderr.write('cannot open /dev/kvm\n');
  process.exitCode = 1;
} else {
  const options = {};
  for (const word of words) {
    const index = words.indexOf(word);
    if (['--api-sock', '--id'].includes(word)) options[word] = words[index + 1];
    else if (!(words[index - 1] in options)) {
      process.stderr.write(`Arguments parsing error: ${word}\n`);
      process.exit(153);
    }
  }
  rmSync(agentSocket, { force: true });
  if (faults.start !== 'deaf') {
    createHttpServer((request, response) => void serve(request, response)).listen(
      options['--api-sock'],
    );
  } else setInterval(() => {}, 1_000);
}
