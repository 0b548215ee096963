// One service of the soak, in a process of its own: prints its address, drains at SIGTERM.
import { openSandbox } from '../../dist/index.js';
import { openSandboxService } from '../../dist/service.js';

const [python, isolation, port] = process.argv.slice(2);
const sandbox = await openSandbox({
  python,
  isolation,
  servers: 2,
  maxSessions: 64,
  limits: { wallSeconds: 3, cpuSeconds: 2 },
  recycle: { sessions: 200 },
});
const service = await openSandboxService({ sandbox, port: Number(port), idleSeconds: 20 });
console.log(service.url);
process.once('SIGTERM', () => service.drain(10).then(() => process.exit(0)));
