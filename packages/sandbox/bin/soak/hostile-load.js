// The callers of the hostile soak: sessions one after another, each honest or hostile by a coin.
// Honest ones must end as their code says; hostile ones may end in any way but ours.
import { attackCode, attacks } from '../../dist/attacks/index.js';
import { coordinateImage } from '../../dist/contract.js';

const image = { name: 'image_clue_0', encoded: coordinateImage(512, 512) };

/** Code, what it prints, and how many images it shows. */
const honest = [
  { code: 'print(sum(range(100)))', says: '4950\n', shows: 0 },
  { code: 'image_clue_0.crop((9, 9, 309, 309)).resize((336, 336)).show()', says: '', shows: 1 },
  { code: 'print(np.arange(100_000).sum())', says: '4999950000\n', shows: 0 },
  { code: 'open("f", "w").write("x" * 100_000)', says: '', shows: 0 },
];

const pick = (list) => list[Math.floor(Math.random() * list.length)];

export class HostileLoad {
  counts = { made: 0, ended: 0, byEnd: {} };
  /** Errors: a call that ran twice, an honest result that is wrong, a failure of ours. */
  wrong = [];
  /** Seconds of honest calls, opening included, since `measure` was last called. */
  seconds = [];
  /** Share of sessions that are hostile. */
  hostileShare = 0;
  /** While parts are killed, calls may fail; they must still end. */
  isUnderKills = false;
  #isOver = false;
  #hostile;

  /** @param facts  what attacks may use: names and values, as in `attacks/run.ts` */
  constructor(sandbox, facts) {
    this.sandbox = sandbox;
    this.#hostile = attacks.map((attack) => ({
      name: attack.name,
      code: attackCode(attack, facts),
    }));
  }

  measure() {
    this.seconds = [];
  }

  stop() {
    this.#isOver = true;
  }

  async #count(label, call) {
    this.counts.made += 1;
    let end;
    try {
      end = await call();
    } catch (error) {
      end = error.code ?? error.name;
      if (!this.isUnderKills) this.#report(`${label}: ${error.message}`);
    }
    this.counts.ended += 1;
    const key = `${label}: ${end}`;
    this.counts.byEnd[key] = (this.counts.byEnd[key] ?? 0) + 1;
    return end;
  }

  #report(text) {
    if (this.wrong.length < 100) this.wrong.push(text.slice(0, 300));
  }

  /** One caller: sessions until told to stop. */
  async run() {
    while (!this.#isOver) {
      if (Math.random() < this.hostileShare) await this.#attack();
      else await this.#work();
    }
  }

  async #open(label) {
    let session;
    const began = performance.now();
    const opened = await this.#count(`${label} open`, async () => {
      session = await this.sandbox.open({ images: [image] });
      return 'opened';
    });
    if (opened === 'opened') {
      if (label === 'honest') this.seconds.push((performance.now() - began) / 1000);
      return session;
    }
    await new Promise((wake) => setTimeout(wake, 200));
    return undefined;
  }

  async #work() {
    const session = await this.#open('honest');
    if (session === undefined) return;
    const turns = 1 + Math.floor(Math.random() * 4);
    for (let turn = 1; turn <= turns; turn++) {
      const { code, says, shows } = pick(honest);
      const counted = `turns = globals().get("turns", 0) + 1\nprint("turn", turns)\n${code}`;
      const began = performance.now();
      const end = await this.#count('honest execute', async () => {
        const outcome = await session.execute(counted);
        const { kind, stdout, images, error } = outcome;
        const isRight =
          kind === 'ok' && stdout === `turn ${turn}\n${says}` && images.length === shows;
        if (!isRight && !(this.isUnderKills && kind !== 'ok')) {
          this.#report(`${kind} for "${code}" in turn ${turn}: ${stdout} ${error?.message}`);
        }
        return kind;
      });
      this.seconds.push((performance.now() - began) / 1000);
      if (end !== 'ok') break;
    }
    await session.dispose();
  }

  async #attack() {
    const session = await this.#open('hostile');
    if (session === undefined) return;
    const { name, code } = pick(this.#hostile);
    await this.#count('hostile execute', async () => {
      const { kind, error } = await session.execute(code);
      if (kind === 'infraError' && !this.isUnderKills) {
        this.#report(`infraError for the attack "${name}": ${error?.message}`);
      }
      if (kind === 'forbidden') this.#report(`the attack "${name}" was not run`);
      return kind;
    });
    await session.dispose();
  }
}
