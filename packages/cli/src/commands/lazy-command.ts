/** A command that is declared without what it needs to run: only the one that is named loads more. */
import { Command } from 'commander';

/**
 * When a preparation runs: `use` where the command is named at all, `help` where help is asked for, and
 * an option where it is given. Whoever asks for help or completes a command needs all of them.
 */
type Occasion = 'use' | 'help' | `--${string}`;

interface Preparation {
  readonly occasion: Occasion;
  readonly prepare: () => Promise<unknown>;
}

/** Words that ask for help; `complete` is what shells call with the words typed so far. */
const NEEDS_ALL: readonly string[] = ['help', '--help', '-h', 'complete'];

/**
 * A command whose declaration says only what is cheap. What units say, such as a help text that lists
 * them, is loaded by `before`; what the command does, by its action.
 */
export class LazyCommand extends Command {
  readonly #preparations: Preparation[] = [];

  override createCommand(name?: string): LazyCommand {
    return new LazyCommand(name);
  }

  /** Loads a part of the declaration on an occasion, before the command line is parsed. */
  before(occasion: Occasion, prepare: () => Promise<unknown>): this {
    this.#preparations.push({ occasion, prepare });
    return this;
  }

  /** Help after that of the options, loaded where help is asked for. */
  addLazyHelp(load: () => Promise<string>): this {
    return this.before('help', async () => this.addHelpText('after', await load()));
  }

  /** Loads what these words of a command line need of the commands that they name. */
  async prepare(words: readonly string[]): Promise<void> {
    for (const command of this.named(words)) {
      for (const { occasion, prepare } of command.#preparations) {
        if (needs(words, occasion)) await prepare();
      }
    }
  }

  /** This command and those below it that the words name, outermost first. */
  named(words: readonly string[]): readonly LazyCommand[] {
    const found: LazyCommand[] = [this];
    let last: LazyCommand = this;
    for (const word of words) {
      const next = last.commands.find((command) => command.name() === word);
      if (!(next instanceof LazyCommand)) continue;
      found.push(next);
      last = next;
    }
    return found;
  }
}

function needs(words: readonly string[], occasion: Occasion): boolean {
  if (occasion === 'use' || NEEDS_ALL.some((word) => words.includes(word))) return true;
  return words.some((word) => word === occasion || word.startsWith(`${occasion}=`));
}
