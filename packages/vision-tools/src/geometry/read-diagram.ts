/** Reads the diagram in an image of a call. */
import type { Outcome } from '@saccade/sandbox';
import type { ToolContext } from '@saccade/tools';
import { imageAt, isOutcome } from '../call-images.ts';
import type { CallEngine } from '../define-vision-tool.ts';
import { type Diagram, diagramOf } from './diagram.ts';

/** The diagram, or the outcome that says why there is none. */
export async function readDiagram(
  context: ToolContext,
  index: number,
  engine: CallEngine,
): Promise<Diagram | Outcome> {
  const image = imageAt(context, index);
  if (isOutcome(image)) return image;
  const { result } = await engine.run('image_cdl', {}, [image]);
  return diagramOf(result);
}

/** Whether `readDiagram` gave an outcome. */
export function isDeclined(read: Diagram | Outcome): read is Outcome {
  return 'kind' in read;
}
