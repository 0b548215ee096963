/** Replies on disk, so that a job that is killed and started again pays for nothing twice. Node only. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import type { ReplyCache } from './chat-client.ts';
import type { ChatReply } from './chat-reply.ts';

/**
 * A cache in a directory: one file per reply, named by the digest of its request, written aside and
 * renamed. Processes may share it. A file that is damaged counts as absent.
 *
 * @throws DataError from `set` if the directory cannot be written
 */
export function diskReplyCache(directory: string): ReplyCache {
  const pathOf = (key: string): string => join(directory, key.slice(0, 2), `${key}.json`);
  return {
    async get(key) {
      try {
        const read: unknown = JSON.parse(await readFile(pathOf(key), 'utf8'));
        return isReply(read) ? read : undefined;
      } catch {
        return undefined;
      }
    },
    async set(key, reply) {
      const path = pathOf(key);
      const aside = `${path}.${process.pid}.${crypto.randomUUID()}.part`;
      try {
        await mkdir(join(directory, key.slice(0, 2)), { recursive: true });
        await writeFile(aside, JSON.stringify(reply));
        await rename(aside, path);
      } catch (cause) {
        throw new DataError(
          `A reply cannot be kept in ${directory}: ${messageOf(cause)}. Choose another directory.`,
          { cause },
        );
      }
    },
  };
}

function isReply(read: unknown): read is ChatReply {
  const { text, toolCalls, finish } = (read ?? {}) as Partial<ChatReply>;
  return typeof text === 'string' && Array.isArray(toolCalls) && typeof finish === 'string';
}
