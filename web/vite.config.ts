// One script and one style: tools/embed_web.py gives both a name with a hash. SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

/** The rows of a table of fields (src/core/model/*_fields.def) that have a flag. */
function rowsOf(table: string) {
  const text = '"((?:[^"\\\\]|\\\\.)*)"';
  const row = new RegExp(`^FIELD\\((\\w+), (\\w+)\\(.*?, (\\w+),\\s+FLAG(?:_OF)?\\((\\w+), ${text}, 0, (?:${text}|NULL), ${text}(?:, (\\w+), (?:${text}|NULL))?\\)\\)$`, 's');
  const flagged = table.split(/\n(?=FIELD\()/).filter((line) => /^FIELD\(.*FLAG(_OF)?\(/s.test(line));
  const read = flagged.map((line) => row.exec(line.trim()));
  const odd = flagged[read.indexOf(null)];
  if (odd) throw new Error(`a row of the table of fields is not understood: ${odd}`);
  return (read as string[][])
    .map(([, name, kind, group, takes, flag, arg = '', help, set, words = '']) => ({ name, kind, group, takes, flag, arg, help, words: set === 'WORDS' && words ? words.split(',') : [] }));
}

const fields = { name: 'fields', transform: (code: string, id: string) => (id.endsWith('_fields.def') ? `export default ${JSON.stringify(rowsOf(code))}` : undefined) };

export default defineConfig({
  plugins: [fields],
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
