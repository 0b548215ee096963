/** Guided examples on disk, so that a kill loses only those under way. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageFolder } from '@saccade/data/formats';
import type { Message, MessagePart } from '@saccade/trajectory';
import type { Guided } from '../guided-play.ts';
import { openLines, readLines } from '../lines.ts';

interface Row {
  readonly id: string;
  readonly guided: Guided;
}

/** A log of examples, `guided.jsonl` with its images beside it. */
export class GuidedLog {
  readonly #directory: string;
  readonly #known: ReadonlyMap<string, Guided>;
  readonly #write: (row: object) => Promise<void>;
  readonly #images: ImageFolder;

  private constructor(
    directory: string,
    known: ReadonlyMap<string, Guided>,
    write: (row: object) => Promise<void>,
  ) {
    this.#directory = directory;
    this.#known = known;
    this.#write = write;
    this.#images = new ImageFolder(join(directory, 'guided.jsonl'));
  }

  static async open(directory: string): Promise<GuidedLog> {
    await mkdir(directory, { recursive: true });
    const path = join(directory, 'guided.jsonl');
    const rows = await readLines<Row>(path);
    const known = new Map(rows.map(({ id, guided }) => [id, guided]));
    return new GuidedLog(directory, known, await openLines(path));
  }

  /** The example of an id: read if it is known, else made and kept. */
  async once(id: string, make: () => Promise<Guided>): Promise<Guided> {
    const known = this.#known.get(id);
    if (known !== undefined) return await this.#withImages(known);
    const guided = await make();
    await this.#write({ id, guided: await this.#withFiles(guided) });
    return guided;
  }

  #withFiles(guided: Guided): Promise<Guided> {
    return mapImages(guided, async (part) => {
      const file = await this.#images.keep(part.image);
      return { ...part, image: file as unknown as Uint8Array };
    });
  }

  #withImages(guided: Guided): Promise<Guided> {
    return mapImages(guided, async (part) => {
      const file = join(this.#directory, String(part.image));
      return { ...part, image: new Uint8Array(await readFile(file)) };
    });
  }
}

type ImagePart = Extract<MessagePart, { type: 'image' }>;

async function mapImages(
  guided: Guided,
  change: (part: ImagePart) => Promise<ImagePart>,
): Promise<Guided> {
  if (guided.kind === 'discarded') return guided;
  const messages = await Promise.all(
    guided.messages.map(async (message): Promise<Message> => {
      const { content } = message;
      if (typeof content === 'string' || content == null) return message;
      const parts = await Promise.all(
        content.map((part) => (part.type === 'image' ? change(part) : part)),
      );
      return { ...message, content: parts };
    }),
  );
  return { ...guided, messages };
}
