/** One page, bundled from the package's source: no build of it is needed first. */
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  // The built page works from any folder of a server.
  base: './',
  resolve: { conditions: ['@saccade/source', ...defaultClientConditions] },
  build: { target: 'es2023' },
});
