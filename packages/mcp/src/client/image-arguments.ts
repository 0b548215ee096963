/** Arguments of a server's tools that take an image, as a person has said. */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { GivenArguments, JsonSchema, ToolImage } from '@saccade/tools';

type ImageForm = 'base64' | 'data-url' | 'path';

export interface ImageArgument {
  readonly tool: string;
  readonly argument: string;
  readonly form: ImageForm;
  /** The image to pass, where the model does not choose one. */
  readonly which?: 'first' | 'last';
}

/**
 * Reads `tool.argument=form` and `tool.argument=form:which`.
 *
 * @throws ConfigError for a text of another form
 */
export function readImageArguments(field: string, texts: readonly string[]): ImageArgument[] {
  return texts.map((text) => {
    const match = /^([^=]+)\.([^.=]+)=(base64|data-url|path)(?::(first|last))?$/.exec(text);
    const [, tool, argument, form, which] = match ?? [];
    if (tool !== undefined && argument !== undefined && form !== undefined) {
      return {
        ...{ tool, argument, form: form as ImageForm },
        ...(which !== undefined && { which: which as 'first' | 'last' }),
      };
    }
    throw new ConfigError(
      field,
      `${field}: expected tool.argument=form with a form of base64, data-url or path, and :first or ` +
        `:last if the model does not choose, got "${text}".`,
    );
  });
}

/** The schema as the model sees it: an index in the image's place, or nothing. */
export function shownSchema(schema: JsonSchema, images: readonly ImageArgument[]): JsonSchema {
  const properties = { ...(schema.properties as Record<string, unknown>) };
  let required = Array.isArray(schema.required) ? [...schema.required] : [];
  for (const { argument, which } of images) {
    if (which === undefined) {
      properties[argument] = {
        ...{ type: 'integer', minimum: 0, maximum: 9999 },
        description: 'Which image, counted from 0.',
      };
    } else {
      delete properties[argument];
      required = required.filter((name) => name !== argument);
    }
  }
  const { required: _, ...rest } = schema;
  return { ...rest, properties, ...(required.length > 0 && { required }) };
}

export type Filled =
  | { readonly arguments: GivenArguments; cleanUp(): Promise<void> }
  | { readonly problem: string };

/**
 * The arguments with images in their places.
 *
 * @param directory where files are written for `path`, until they are cleaned up
 */
export async function fillImages(
  given: GivenArguments,
  plan: readonly ImageArgument[],
  images: readonly ToolImage[],
  directory: string,
): Promise<Filled> {
  const filled: Record<string, unknown> = { ...given };
  const files: string[] = [];
  for (const { argument, form, which } of plan) {
    const asked = filled[argument];
    if (which === undefined && asked === undefined) continue;
    const index = which === 'first' ? 0 : which === 'last' ? images.length - 1 : Number(asked);
    const image = images[index];
    if (image === undefined) {
      await removeAll(files);
      const last = images.length - 1;
      const remedy = last < 0 ? 'There are none.' : `Write 0 to ${last}.`;
      return {
        problem: `The argument ${argument} does not fit: there is no image ${index}. ${remedy}`,
      };
    }
    if (form === 'path') {
      const file = join(directory, `${randomBytes(12).toString('hex')}.png`);
      await writeFile(file, image.png, { mode: 0o600 });
      files.push(file);
      filled[argument] = file;
    } else {
      const text = Buffer.from(image.png).toString('base64');
      filled[argument] = form === 'base64' ? text : `data:image/png;base64,${text}`;
    }
  }
  return { arguments: filled, cleanUp: () => removeAll(files) };
}

async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true })));
}
