/** Perception for a family's answer program: visual tools, text in an image, Python. */
import { fileURLToPath } from 'node:url';
import { readSettings } from '@saccade/core/settings';
import { ensurePython, SandboxError } from '@saccade/sandbox';
import { assetPaths, visionTools, WorkerPool } from '@saccade/vision-tools';
import sharp from 'sharp';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
/** A program or a tool may take this long: reading small print does, on a busy machine. */
const SECONDS = 3600;

const noSandbox = {
  open: async () => {
    throw new SandboxError('Visual tools run no code of the model.');
  },
};

/**
 * Opens visual tools and Python.
 *
 * The result has four methods:
 * `call(tool, arguments, images)` gives the text of a visual tool, or undefined where it declines.
 * `read(image, region?)` gives `[{ text, box }]`: the lines of an image, or of a region of it.
 * `python(program, params, images)` gives the result of `run(params, images)` of
 * `quality/python/PROGRAM.py`, which gets images as [H, W, 3] uint8 RGB and returns
 * `(result, [])`; it may import `read_text` of `operations.ocr`.
 * `dispose()` ends all processes.
 */
export async function openEyes(names) {
  const { python } = await ensurePython(at('../../../.cache/sandbox-venv'));
  const host = { python: async () => python, onEvent() {}, secret: (field) => field };
  const opened = await Promise.all(
    names.map((name) => {
      const { settings, open } = visionTools.get(name);
      return open(readSettings(name, settings, { workers: 1, timeoutSeconds: SECONDS }), host);
    }),
  );
  const tools = new Map(opened.flatMap((each) => each.tools).map((tool) => [tool.name, tool]));
  const folders = [at('./python')];
  const pool = new WorkerPool({
    python,
    workers: 1,
    memoryMb: 2048,
    maxPixels: 40_000_000,
    folders,
    assets: assetPaths(),
  });
  const run = async (program, params, images) => {
    const pngs = images.map(({ png }) => png);
    const { result } = await pool.run(program, params, pngs, { deadlineMs: SECONDS * 1000 });
    return result;
  };
  return {
    async call(name, given, images) {
      const outcome = await tools.get(name).call(given, { images, sandbox: noSandbox });
      return outcome.kind === 'ok' ? outcome.stdout : undefined;
    },
    async read(image, region) {
      const { words } = await run('ocr', region === undefined ? {} : { region }, [image]);
      return words.map(({ text, box }) => ({ text, box }));
    },
    python: run,
    async dispose() {
      await Promise.all([pool.dispose(), ...opened.map((each) => each.dispose())]);
    },
  };
}

/** The image as it looks after it was shrunk to fit `side` pixels, at its own size. */
export async function shrunk(image, side) {
  const { png, width, height } = image;
  if (Math.max(width, height) <= side) return image;
  const small = await sharp(png).resize(side, side, { fit: 'inside' }).png().toBuffer();
  const large = await sharp(small).resize(width, height, { fit: 'fill' }).png().toBuffer();
  return { ...image, png: large };
}
