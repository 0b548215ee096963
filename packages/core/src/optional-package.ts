/** Packages that are large or rarely needed: users install them when something asks for them. */
import { MissingError, messageOf } from './errors.ts';

/**
 * Imports an optional peer dependency.
 *
 * @param wanted   the package as npm installs it: `sharp@0.35`
 * @param purpose  what needs it, as the beginning of a sentence: `Reading JPEG images`
 * @param load     the import, written out so that compilers and bundlers see it
 * @throws MissingError with the command that installs it, if it is missing or does not load
 */
export async function importOptional<Module>(
  wanted: string,
  purpose: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw missingPackage(wanted, purpose, error);
  }
}

/** The error of an optional peer dependency that is missing or does not load. */
export function missingPackage(wanted: string, purpose: string, cause: unknown): MissingError {
  const name = wanted.replace(/(?<=.)@.*/, '');
  const { code } = cause as { readonly code?: unknown };
  const isAbsent = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  const reason = isAbsent ? 'is not installed' : `does not load: ${messageOf(cause)}`;
  return new MissingError(
    `${purpose} needs the package ${name}, which ${reason}. Run \`npm install ${wanted}\`.`,
    { cause },
  );
}
