/** Clipping of all updates together. */
import { scale } from '../arrays.ts';
import { clipFactor, globalNorm } from '../global-norm.ts';
import { emptyState } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/**
 * u ← u · min(1, maxNorm / (‖u‖ + 10⁻⁶)),  ‖u‖ the L2 norm of all updates as one vector
 *
 * Pascanu et al. 2013, arXiv:1211.5063, section 3.2; the 10⁻⁶ is that of torch. 0 clips nothing.
 * No state.
 */
export function clipByGlobalNorm(maxNorm: number): Transformation {
  return {
    init: () => emptyState,
    async update(updates, state) {
      if (maxNorm === 0) return state;
      const measured = await globalNorm(updates);
      if (measured === undefined) return state;
      measured.sumSquares.dispose();
      const factor = clipFactor(measured.norm, maxNorm);
      if (factor < 1) for (const update of Object.values(updates)) scale(update, factor);
      return state;
    },
  };
}
