/** Two pages, bundled from the packages' sources: no build of theirs is needed first. */
import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const page = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  // The built pages work from any folder of a server.
  base: './',
  resolve: { conditions: ['@saccade/source', ...defaultClientConditions] },
  worker: { format: 'es' },
  // Dependencies that only the worker imports: discovered late, they would reload the page.
  optimizeDeps: { include: ['@saccade/policy > @huggingface/tokenizers', 'fast-png'] },
  build: {
    target: 'es2023',
    rollupOptions: { input: { index: page('index.html'), bench: page('bench.html') } },
  },
});
