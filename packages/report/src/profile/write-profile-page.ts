/** `profile.html` beside a `profile.json`. */
import { join } from 'node:path';
import { needed, nodeFileSystem, readProfile, writeDurably } from '@saccade/run-store';
import { drawProfilePage } from './profile-page.ts';

/**
 * Writes the page of a directory's profile.
 *
 * @returns path of the page
 * @throws StoreError if there is no profile, or it is damaged
 */
export function writeProfilePage(directory: string): string {
  const path = join(directory, 'profile.html');
  writeDurably(nodeFileSystem, path, drawProfilePage(needed(readProfile(directory))));
  return path;
}
