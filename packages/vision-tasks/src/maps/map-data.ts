/** The maps of real places and the tables that color them, separated by split. */
import { readFileSync } from 'node:fs';
import type { Box, Split } from '@saccade/gym';

/** One county, state or country. Coordinates are pixels of the stored map. */
export interface Region {
  readonly name: string;
  /** SVG path data. */
  readonly path: string;
  /** The point farthest inside. */
  readonly spot: readonly [number, number];
  /** Distance from there to the nearest border. */
  readonly room: number;
  /** Regions that share a border line with it. */
  readonly neighbors: readonly string[];
  /** Whether it touches a region in so little that one cannot see it. */
  readonly isUnclear?: boolean;
}

/** A quantity of the regions of a map. */
interface MapTable {
  readonly measure: string;
  readonly unit: string;
  /** A year, or nothing. */
  readonly when: string;
  /** By name of region; a region without a value is drawn as such. */
  readonly values: Readonly<Record<string, number>>;
}

/** A map with its tables; its longer side is 1000 pixels. */
export interface RegionMap {
  readonly id: string;
  readonly split: Split;
  readonly place: string;
  /** The noun for a region, singular and plural. */
  readonly region: readonly [string, string];
  /** The files it comes from; SOURCES.md has their licenses. */
  readonly source: string;
  readonly width: number;
  readonly height: number;
  readonly regions: readonly Region[];
  readonly tables: readonly MapTable[];
}

let file: readonly RegionMap[] | undefined;

/** The maps of a split. No place is in both. */
export function mapsOf(split: Split): readonly RegionMap[] {
  file ??= JSON.parse(
    readFileSync(new URL('../../data/maps.json', import.meta.url), 'utf8'),
  ) as readonly RegionMap[];
  return file.filter((map) => map.split === split);
}

/** The box around a region, in pixels of the stored map. */
export function boxOf({ path }: Region): Box {
  const numbers = (path.match(/\d+/g) ?? []).map(Number);
  const xs = numbers.filter((_, index) => index % 2 === 0);
  const ys = numbers.filter((_, index) => index % 2 === 1);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
