/** The processes of one training and the network between them: started, killed, held, started again. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Disk,
  enginesOf,
  type Fault,
  type FaultPlan,
  type Link,
  type LinkCount,
  requestOf,
  type Setup,
  type Victim,
} from './fault-plan.fixture.ts';
import {
  type Ended,
  FaultProcess,
  hold,
  living,
  rankOf,
  signal,
} from './fault-processes.fixture.ts';
import { FaultProxy, type Incident } from './fault-proxy.fixture.ts';
import { SmallDisk } from './small-disk.fixture.ts';

const bin = fileURLToPath(new URL('../../bin/saccade.js', import.meta.url));
const workers = fileURLToPath(new URL('../../../../workers/torch', import.meta.url));
/** Seconds in which a process says where it listens. */
const PATIENCE = { kernels: 60, engine: 60, engines: 60, torch: 240 };

/** Where a plan is played, and what it trains from. */
interface SceneOptions {
  readonly folder: string;
  readonly plan: FaultPlan;
  /** A policy's directory: the base of the learner, and what engines begin with. */
  readonly base: string;
  /** An interpreter with torch, for the worker. */
  readonly python?: string;
}

/** A server that is started again whenever it ends. */
interface Kept {
  readonly proxy: FaultProxy;
  readonly loop: Promise<void>;
  process: FaultProcess | undefined;
  awaySeconds: number;
  /** Ends that nobody caused. */
  crashes: number;
}

export class Scene {
  readonly run: string;
  readonly #options: SceneOptions;
  readonly #mark: string;
  readonly #disks = new Map<Disk, SmallDisk>();
  readonly #kept = new Map<Link, Kept>();
  #controller: FaultProcess | undefined;
  #isClosing = false;
  /** Faults that have happened. */
  readonly fired: Fault[] = [];

  private constructor(options: SceneOptions) {
    this.#options = options;
    this.run = join(options.folder, 'run');
    this.#mark = `${process.pid}-${options.plan.setup}-${options.plan.seed}`;
  }

  /** Starts the servers of a plan. */
  static async open(options: SceneOptions): Promise<Scene> {
    const scene = new Scene(options);
    const { folder, plan } = options;
    mkdirSync(folder, { recursive: true });
    for (const fault of plan.faults) {
      if (fault.kind !== 'full disk' || scene.#disks.has(fault.disk)) continue;
      const directory = fault.disk === 'run' ? scene.run : scene.checkpoints;
      scene.#disks.set(fault.disk, new SmallDisk(directory));
    }
    try {
      await scene.#keep('learner');
      for (const engine of enginesOf(plan.setup)) await scene.#keep(engine);
    } catch (error) {
      await scene.close();
      throw error;
    }
    return scene;
  }

  /** Where the learner saves. */
  get checkpoints(): string {
    return join(this.#options.folder, 'checkpoints');
  }

  url(link: Link): string {
    return this.#kept.get(link)?.proxy.url ?? '';
  }

  count(link: Link): LinkCount {
    const { count = 0, countBefore = 0 } = this.#kept.get(link)?.proxy ?? {};
    return { all: count, before: countBefore };
  }

  get setup(): Setup {
    return this.#options.plan.setup;
  }

  get crashes(): number {
    return [...this.#kept.values()].reduce((sum, { crashes }) => sum + crashes, 0);
  }

  /** Requests that the network failed, by how. */
  get networkFaults(): Readonly<Record<string, number>> {
    const all: Record<string, number> = {};
    for (const { proxy } of this.#kept.values()) {
      for (const [kind, count] of Object.entries(proxy.failed)) {
        all[kind] = (all[kind] ?? 0) + count;
      }
    }
    return all;
  }

  /** Lets the faults happen at their places in a training of so many requests. */
  schedule(counts: Readonly<Record<Link, LinkCount>>): void {
    const waiting = [...this.#options.plan.faults];
    for (const [link, { proxy }] of this.#kept) {
      proxy.onRequest = (count) => {
        const due = (fault: Fault): boolean =>
          fault.link === link && count >= requestOf(fault, counts[link]);
        const at = waiting.findIndex(due);
        const [fault] = at < 0 ? [] : waiting.splice(at, 1);
        return fault && this.#fire(fault);
      };
    }
  }

  /** Runs the controller to its end, with these words after `saccade`. */
  async control(words: readonly string[]): Promise<Ended> {
    this.#controller = this.#start('controller', [process.execPath, bin, ...words]);
    return await this.#controller.ended;
  }

  giveRoom(): void {
    for (const disk of this.#disks.values()) disk.giveRoom();
  }

  /** Ends all processes. @returns those that are left */
  async close(): Promise<readonly number[]> {
    this.#isClosing = true;
    await this.#controller?.kill();
    for (const { process: one, loop, proxy } of this.#kept.values()) {
      await one?.end(20);
      await loop;
      await proxy.down();
    }
    let left = living(this.#mark);
    for (let tries = 0; left.length > 0 && tries < 100; tries++) {
      await sleep(50);
      left = living(this.#mark);
    }
    for (const pid of left) signal(pid, 'SIGKILL');
    for (const disk of this.#disks.values()) disk.dispose();
    return left;
  }

  /** What happens now; a kill also ends the request that it comes with. */
  #fire(fault: Fault): Incident | undefined {
    this.fired.push(fault);
    if (fault.kind === 'full disk') {
      this.#disks.get(fault.disk)?.fill(fault.leavesBytes);
      return undefined;
    }
    if (fault.kind === 'hold') {
      const pid = this.#pidOf(fault.victim);
      if (pid !== undefined) void hold(pid, fault.seconds);
      return undefined;
    }
    const { victim, awaySeconds, moment } = fault;
    return { moment, run: () => this.#kill(victim, awaySeconds) };
  }

  async #kill(victim: Victim, awaySeconds: number): Promise<void> {
    if (victim === 'controller') {
      await this.#controller?.kill();
      return;
    }
    const kept = this.#keptOf(victim);
    if (kept === undefined) return;
    kept.awaySeconds = awaySeconds;
    kept.crashes--;
    if (victim === 'rank-0' || victim === 'rank-1') {
      signal(this.#pidOf(victim) ?? 0, 'SIGKILL');
      return;
    }
    // A group ends as a whole: its launcher alone would leave the ranks.
    if (this.#options.plan.setup === 'torch' && victim === 'server') {
      for (const rank of [0, 1]) signal(rankOf(this.#mark, rank) ?? 0, 'SIGKILL');
    }
    await kept.process?.kill();
  }

  #keptOf(victim: Victim): Kept | undefined {
    return this.#kept.get(victim === 'engine' || victim === 'other engine' ? victim : 'learner');
  }

  #pidOf(victim: Victim): number | undefined {
    switch (victim) {
      case 'controller':
        return this.#controller?.pid;
      case 'engine':
      case 'other engine':
        return this.#keptOf(victim)?.process?.pid;
      case 'rank-0':
      case 'rank-1':
        return rankOf(this.#mark, victim === 'rank-0' ? 0 : 1);
      case 'server':
        return this.#options.plan.setup === 'torch'
          ? rankOf(this.#mark, 0)
          : this.#kept.get('learner')?.process?.pid;
    }
  }

  /** Starts a server, and again whenever it ends. */
  async #keep(link: Link): Promise<void> {
    const { plan } = this.#options;
    const proxy = await FaultProxy.open(plan);
    let first: (error?: unknown) => void = () => {};
    const isThere = new Promise<void>((resolve, reject) => {
      first = (error) => (error === undefined ? resolve() : reject(error));
    });
    const loop = async (): Promise<void> => {
      while (!this.#isClosing) {
        const one = this.#start(link, this.#command(link));
        kept.process = one;
        try {
          await proxy.up(await one.port(PATIENCE[plan.setup]));
          first();
        } catch (error) {
          first(error);
        }
        await one.ended;
        await proxy.down();
        if (this.#isClosing) return;
        kept.crashes++;
        await sleep(1000 * kept.awaySeconds);
      }
    };
    const kept: Kept = {
      proxy,
      loop: sleep(0).then(loop),
      process: undefined,
      awaySeconds: 0.5,
      crashes: 0,
    };
    this.#kept.set(link, kept);
    await isThere;
  }

  #start(name: string, command: readonly string[]): FaultProcess {
    return new FaultProcess({
      command,
      log: join(this.#options.folder, `${name}.log`),
      mark: this.#mark,
      env: { PYTHONPATH: workers },
    });
  }

  #command(link: Link): readonly string[] {
    const { base, plan, python = 'python3' } = this.#options;
    const node = [process.execPath, bin, 'serve'];
    const own = ['--port', '0', '--threads', '1'];
    if (link !== 'learner') return [...node, 'policy', base, ...own];
    const saving = ['--checkpoints', this.checkpoints, '--max-models', '8'];
    if (plan.setup !== 'torch') return [...node, 'learner', base, ...own, ...saving];
    const group = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2'];
    const worker = ['-m', 'saccade_worker', '--model', base, '--device', 'cpu'];
    return [python, ...group, ...worker, ...own, ...saving];
  }
}
