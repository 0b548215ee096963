// The callers of the soak: trajectories over the sessions API and single runs of SandboxFusion's,
// each call counted when it is made and when it ends.
import { coordinateImage } from '../../dist/contract.js';

const image = { name: 'image_clue_0', encoded: coordinateImage(512, 512) };

/** Code, its share of the calls, the outcome it must have, images it shows. */
const kinds = [
  { share: 50, code: 'print(sum(range(100)))', ends: ['ok'] },
  {
    share: 20,
    code: 'image_clue_0.crop((9, 9, 309, 309)).resize((336, 336)).show()',
    ends: ['ok'],
  },
  { share: 10, code: 'raise ValueError("no")', ends: ['exception'] },
  { share: 5, code: 'print("x" * 1_000_000)', ends: ['ok'] },
  { share: 4, code: 'open("f", "w").write("x" * 100_000)', ends: ['ok'] },
  { share: 4, code: 'import os\nos._exit(3)', ends: ['crashed'] },
  { share: 3, code: 'x = bytearray(1 << 40)', ends: ['memory'] },
  { share: 2, code: 'import time\ntime.sleep(60)', ends: ['timeout'], wallSeconds: 0.4 },
  { share: 2, code: 'import time\ntime.sleep(60)', ends: [], isCancelled: true },
];
const shares = kinds.reduce((sum, { share }) => sum + share, 0);

function choose() {
  let left = Math.random() * shares;
  for (const kind of kinds) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  return kinds[0];
}

export class Load {
  counts = { made: 0, ended: 0, byEnd: {} };
  /** Errors: a call that ran twice, an outcome that the code cannot have. */
  wrong = [];
  seconds = [];
  #isOver = false;

  constructor(sandbox, urls) {
    this.sandbox = sandbox;
    this.urls = urls;
  }

  stop() {
    this.#isOver = true;
  }

  async #count(kind, call) {
    this.counts.made += 1;
    const began = performance.now();
    let end;
    try {
      end = await call();
    } catch (error) {
      end = `${kind}: ${error.name === 'HostFailure' ? error.code : error.name}`;
    }
    this.counts.ended += 1;
    this.counts.byEnd[end] = (this.counts.byEnd[end] ?? 0) + 1;
    if (this.seconds.length < 200_000) this.seconds.push((performance.now() - began) / 1000);
    return end;
  }

  /** Sessions one after another until told to stop. */
  async trajectories() {
    while (!this.#isOver) {
      let session;
      const opened = await this.#count('open', async () => {
        session = await this.sandbox.open({ images: [image] });
        return 'opened';
      });
      if (opened !== 'opened') {
        await new Promise((wake) => setTimeout(wake, 200));
        continue;
      }
      await this.#turns(session);
      await session.dispose();
    }
  }

  async #turns(session) {
    const turns = 1 + Math.floor(Math.random() * 6);
    for (let turn = 1; turn <= turns && !this.#isOver; turn++) {
      const { code, ends, wallSeconds, isCancelled } = choose();
      const controller = new AbortController();
      if (isCancelled) setTimeout(() => controller.abort(new Error('given up')), 300);
      // The session counts its executions: one that ran twice would show.
      const counted = `turns = globals().get("turns", 0) + 1\nprint("turn", turns)\n${code}`;
      const end = await this.#count('execute', async () => {
        const signal = controller.signal;
        const outcome = await session.execute(counted, {
          signal,
          ...(wallSeconds && { wallSeconds }),
        });
        const said = /^turn (\d+)\n/.exec(outcome.stdout)?.[1];
        if (said !== undefined && Number(said) !== turn) {
          this.wrong.push(`execution ${turn} of a session was its ${said}th`);
        }
        // A killed worker looks like code that crashed.
        if (![...ends, 'crashed', 'infraError'].includes(outcome.kind)) {
          this.wrong.push(`${outcome.kind} for ${code}`);
        }
        return outcome.kind;
      });
      if (!['ok', 'exception'].includes(end)) return;
    }
  }

  /** Single runs in SandboxFusion's words, at one service after another. */
  async runs() {
    for (let round = 0; !this.#isOver; round++) {
      const url = this.urls[round % this.urls.length];
      const end = await this.#count('run', async () => {
        const response = await fetch(`${url}/run_code`, {
          method: 'POST',
          body: JSON.stringify({ code: 'print(6 * 7)', language: 'python', run_timeout: 2 }),
        });
        const { status, run_result: run } = await response.json();
        if (response.status !== 200) return `run: status ${response.status}`;
        if (status === 'Success' && run.stdout !== '42\n')
          this.wrong.push(`a run said ${run.stdout}`);
        return `run: ${status}`;
      });
      if (end !== 'run: Success') await new Promise((wake) => setTimeout(wake, 300));
    }
  }
}
