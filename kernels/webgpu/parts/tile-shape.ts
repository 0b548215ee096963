/** The shape of a product's tile, and the two sides whose products it sums. */
import type { MatrixUnit } from '../kernel.ts';

/** The size of a tile and the sums each thread owns; parts/tiles.ts lists the tiles in use. */
export interface SumTile {
  readonly rows: number;
  /** A multiple of 32. */
  readonly columns: number;
  /** Steps of the depth staged at once; 0 where each thread reads its factors for itself. */
  readonly depth: 0 | 16 | 32;
  readonly rowsPerThread: 1 | 4 | 8;
  /** Groups of four columns. */
  readonly groupsPerThread: 1 | 2 | 4;
  /** Whether the threads of a quad read for each other, where each reads for itself. */
  readonly hasQuads?: boolean;
  /** Where the sums are made by matrix units; see parts/matrix-tile.ts. */
  readonly unit?: MatrixUnit;
}

/** Threads along the columns of a tile. */
export const across = ({ columns, groupsPerThread }: SumTile): number =>
  columns / 4 / groupsPerThread;
/** Threads along the rows of a tile. */
export const down = ({ rows, rowsPerThread }: SumTile): number => rows / rowsPerThread;
/** Threads that make one tile. */
export const tileThreads = (tile: SumTile): number => across(tile) * down(tile);

/** One factor of a product: how a shader reads its values. */
export interface TileSide {
  /**
   * WGSL of four values. `depth`: of column or row 4·`block` + `i`, from depth `k` on; `width`: of
   * columns or rows 4·`block`… at depth `k` + `i`. What is beyond the depth must be 0.
   */
  readonly load: (i: string, block: string, k: string) => string;
  readonly along: 'depth' | 'width';
}

/** Both factors of a product, and how far their common axis goes. */
export interface TileSides {
  readonly columns: TileSide;
  readonly rows: TileSide;
  /** WGSL of a u32, which must be uniform. */
  readonly depth: string;
}
