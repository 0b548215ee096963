// One service of the soak, in a process of its own: prints its address, drains at SIGTERM.
import { openSandbox } from '../../dist/index.js';
import { openSandboxService } from '../../dist/service.js';

const [python, isolation, port, more = '{}'] = process.argv.slice(2);
const options = {
  python,
  isolation,
  servers: 2,
  maxSessions: 64,
  limits: { wallSeconds: 3, cpuSeconds: 2 },
  recycle: { sessions: 200 },
  ...JSON.parse(more),
};
const sandbox = await openSandbox(options).catch((error) => {
  console.error(`The start failed: ${error.message.split('\n')[0]}`);
  process.exit(1); // its interpreter was killed; the soak starts us again
});
const service = await openSandboxService({ sandbox, port: Number(port), idleSeconds: 20 });
console.log(service.url);
process.once('SIGTERM', () => service.drain(10).then(() => process.exit(0)));
