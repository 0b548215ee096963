/** A task whose images are turned or flipped before they are given, and the facts that say so. */
import { DataError } from '@saccade/core';
import type { Box, Task, TaskImage, TurnTool } from '@saccade/gym';
import { type Pose, type PoseMap, posedBox, posedImage, toCanonicalOf, undoOf } from './pose.ts';

/** Facts that a turned task adds to those of the task as it stands upright. */
export interface PoseFacts {
  /** What was done to the upright image. */
  readonly orientation: Pose;
  /** From the first given image to the upright one. */
  readonly toCanonical: PoseMap;
  /** The turns that make it stand upright, then the tools of the upright task. */
  readonly requiredTools: readonly string[];
  /** The only turn that makes it stand upright; none where it does, or where it takes two. */
  readonly turn?: TurnTool;
  /** Where `box` lies in the image that is given; all other boxes are those of the upright one. */
  readonly boxInImage?: Box;
  /** Where the evidence lies in the images that are given, in its order. */
  readonly evidenceInImage?: readonly Box[];
}

/** Words that say where something is, or in which direction: they mean the upright image. */
const direction =
  /\b(left|right|above|below|over|under|upper|lower|top|bottom|row|column|horizontal|vertical|beside|clockwise)/i;
/** Stands behind such questions in every pose, so that it tells nothing. */
const UPRIGHT = 'Directions are those of the upright image.';

/** The task with all its images in a pose. */
export async function posedTask(task: Task, pose: Pose): Promise<Task> {
  const [first] = task.images;
  if (first === undefined) {
    throw new DataError(
      `Task ${task.id} has no image to turn. Wrap a task set whose tasks have images.`,
    );
  }
  if (task.metadata.toCanonical !== undefined) {
    throw new DataError(`Task ${task.id} is turned already. Wrap the upright task set.`);
  }
  const images = await Promise.all(task.images.map((image) => posedImage(pose, image)));
  const question = direction.test(task.question) ? `${task.question} ${UPRIGHT}` : task.question;
  return { ...task, question, images, metadata: { ...task.metadata, ...poseFacts(task, pose) } };
}

/** The facts of a task in a pose. */
export function poseFacts({ images, metadata }: Task, pose: Pose): PoseFacts {
  const [first] = images as readonly [TaskImage, ...TaskImage[]];
  const boxIn = ({ width, height }: TaskImage, box: Box) => posedBox(pose, width, height, box);
  const { box, evidence, requiredTools } = metadata as Partial<UprightFacts>;
  const undo = undoOf[pose];
  const [turn] = undo.length === 1 ? undo : [];
  const evidenceInImage = evidence?.map((each) => {
    if (isPlain(each)) return boxIn(first, each);
    return boxIn(images.find(({ name }) => name === each.image) ?? first, each.box);
  });
  return {
    orientation: pose,
    toCanonical: toCanonicalOf(pose, first.width, first.height),
    requiredTools: [...undo, ...(requiredTools ?? [])],
    ...(turn !== undefined && { turn }),
    ...(box !== undefined && { boxInImage: boxIn(first, box) }),
    ...(evidenceInImage !== undefined && { evidenceInImage }),
  };
}

/** The facts of an upright task that have boxes or tools. */
interface UprightFacts {
  readonly box: Box;
  readonly evidence: readonly (Box | { readonly box: Box; readonly image?: string })[];
  readonly requiredTools: readonly string[];
}

const isPlain = (each: UprightFacts['evidence'][number]): each is Box => Array.isArray(each);
