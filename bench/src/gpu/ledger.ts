/** A stage's progress, on disk: a process that dies in the middle of one entry loses no other. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file's content. */
export interface LedgerState<Entry> {
  readonly entries: readonly Entry[];
  /** The entry in progress; left behind by a process that ended during it. */
  readonly running?: string;
  /** Whether nothing is left to do. */
  readonly isDone: boolean;
  /** Facts about the whole stage. */
  readonly about?: Readonly<Record<string, unknown>>;
}

export interface LedgerOptions<Entry> {
  readonly folder: string;
  readonly name: string;
  /** Continues where another process ended. */
  readonly resume: boolean;
  /** The entry of something that failed, or in which a process ended. */
  failed(what: string, message: string): Entry;
}

export const ledgerPath = (folder: string, name: string): string =>
  join(folder, `part-${name}.json`);

/** The ledger that a stage left, or undefined if there is none. */
export function readLedger<Entry = unknown>(
  folder: string,
  name: string,
): LedgerState<Entry> | undefined {
  const path = ledgerPath(folder, name);
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as LedgerState<Entry>)
    : undefined;
}

export function removeLedger(folder: string, name: string): void {
  rmSync(ledgerPath(folder, name), { force: true });
}

export class Ledger<Entry> {
  readonly #options: LedgerOptions<Entry>;
  #entries: Entry[] = [];
  #about: Record<string, unknown> = {};

  constructor(options: LedgerOptions<Entry>) {
    this.#options = options;
    const { folder, name, resume, failed } = options;
    const left = resume ? readLedger<Entry>(folder, name) : undefined;
    if (left === undefined) return;
    this.#entries = [...left.entries];
    this.#about = { ...left.about };
    if (left.running !== undefined) {
      this.#entries.push(failed(left.running, 'The process ended in the middle of it.'));
    }
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  describe(about: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#about, about);
    this.#write({});
  }

  /**
   * Does one thing and writes it down. Where it takes longer than it may (a kernel that hangs), that
   * is written down and this process ends at once, since nothing else would end the wait.
   */
  async run(what: string, limitSeconds: number, work: () => Promise<Entry>): Promise<Entry> {
    const { failed } = this.#options;
    this.#write({ running: what });
    const timer = setTimeout(() => {
      this.add(failed(what, `It did not end in ${limitSeconds} seconds.`));
      process.kill(process.pid, 'SIGKILL');
    }, 1000 * limitSeconds);
    try {
      return this.add(await work());
    } finally {
      clearTimeout(timer);
    }
  }

  add(entry: Entry): Entry {
    this.#entries.push(entry);
    this.#write({});
    return entry;
  }

  finish(): void {
    this.#write({ isDone: true });
  }

  /** In one piece: whoever reads it while it is written gets the one before. */
  #write(state: Partial<LedgerState<Entry>>): void {
    const path = ledgerPath(this.#options.folder, this.#options.name);
    const all: LedgerState<Entry> = {
      entries: this.#entries,
      isDone: false,
      about: this.#about,
      ...state,
    };
    writeFileSync(`${path}.new`, `${JSON.stringify(all)}\n`);
    renameSync(`${path}.new`, path);
  }
}
