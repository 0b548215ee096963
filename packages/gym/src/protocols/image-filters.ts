/** Settings of protocols that change or drop the images an execution gives. */
import { ConfigError } from '@saccade/core';
import { count, quantity } from '@saccade/core/settings';
import type { CaptureOptions } from '@saccade/sandbox';
import type { z } from 'zod';

/** The images that a protocol drops or enlarges, by its published numbers. */
export interface ImageFilters {
  /** Images whose longer side is more than so many times the shorter are dropped. */
  readonly maxAspect: number;
  /** Images with a shorter side, in pixels, are enlarged until that side has `enlargeTo`; 0: none. */
  readonly smallSide: number;
  readonly enlargeTo: number;
}

/** @param published the numbers of the protocol's paper or code */
export function imageFilters(published: ImageFilters): {
  readonly [Name in keyof ImageFilters]: z.ZodDefault<z.ZodNumber>;
} {
  return {
    maxAspect: quantity({
      min: 1,
      max: 10_000,
      default: published.maxAspect,
      unit: 'ratio',
      about: 'Images whose longer side is more than so many times the shorter are dropped.',
    }),
    smallSide: count({
      min: 0,
      max: 4096,
      default: published.smallSide,
      unit: 'pixels',
      about: 'Images with a shorter side are enlarged; 0: none.',
    }),
    enlargeTo: count({
      min: 1,
      max: 4096,
      default: published.enlargeTo,
      unit: 'pixels',
      about: 'The shorter side of an image that was enlarged; at least smallSide.',
    }),
  };
}

/** The filters as the sandbox takes them. @throws ConfigError if images would be made smaller */
export function filtersOf({
  maxAspect,
  smallSide,
  enlargeTo,
}: ImageFilters): NonNullable<CaptureOptions['images']> {
  if (enlargeTo < smallSide) {
    throw new ConfigError(
      'protocol.enlargeTo',
      `protocol.enlargeTo: expected at least smallSide, ${smallSide}, got ${enlargeTo}. Raise it, ` +
        'or set smallSide=0 to leave small images as they are.',
    );
  }
  return {
    mostAspect: maxAspect,
    ...(smallSide > 0 && { smallSides: { below: smallSide, enlargeTo } }),
  };
}
