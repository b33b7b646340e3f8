// One script and one style: tools/embed_web.py gives both a name with a hash. SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/assets/',
  publicDir: false,
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target: 'es2021',
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    rollupOptions: {
      input: 'src/main.tsx',
      output: {
        format: 'es',
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
        inlineDynamicImports: true,
      },
    },
  },
});
