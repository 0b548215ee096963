/** Tells weights apart: two checkpoints have one identity if a model behaves the same with both. */
import { basename, join } from 'node:path';
import { listFiles } from '../durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { sha256 } from '../sealed-json.ts';
import { storeError } from '../store-error.ts';

/**
 * SHA-256 (hex) of the names and contents of a directory of weights: those, the tokenizer and the
 * configuration. The optimizer's state is left out, as it decides no sample.
 *
 * @param directory `<checkpoint>/policy`, or any directory with a model
 * @throws StoreError if a file cannot be read
 */
export function weightsIdentity(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): string {
  try {
    const files = listFiles(fileSystem, directory).filter(
      (path) => !basename(path).startsWith('optimizer.') && !path.split('/').some(isHidden),
    );
    const lines = files.map(
      (path) => `${path} ${sha256(fileSystem.readFile(join(directory, path)))}`,
    );
    return sha256(lines.sort().join('\n'));
  } catch (error) {
    throw storeError(directory, error);
  }
}

const isHidden = (name: string): boolean => name.startsWith('.');
