// Bundles the program with its dependencies: finding files takes most of the start.
import { join } from 'node:path'
import { build, type Plugin } from 'rolldown'
import { inlineTexts } from './inline-texts.ts'
import { quickBuiltins } from './quick-builtins.ts'

const root = join(import.meta.dirname, '..')

/** A package that the source requires when it is first used is bundled too, and still evaluated at its first use. */
const lazyRequires: Plugin = {
  name: 'lazy-requires',
  transform: (code) => code.replaceAll('createRequire(import.meta.url)(', 'require('),
}

/** Writes `bin.js` and its chunks into a directory, and returns the source files they were made of. */
export async function buildProgram(directory: string): Promise<readonly string[]> {
  const { output } = await build({
    platform: 'node',
    external: [/^node:/],
    // The code of a verification is in the first chunk on purpose.
    checks: { ineffectiveDynamicImport: false },
    // The library is what modules of the user get when they import 'gantry'.
    input: {
      bin: join(root, 'src/bin.ts'),
      index: join(root, 'src/index.ts'),
      'spawn-server': join(root, 'src/io/spawn-server.ts'),
    },
    plugins: [quickBuiltins, lazyRequires, inlineTexts],
    output: {
      format: 'esm',
      chunkFileNames: 'chunks/[name]-[hash].js',
      dir: directory,
      codeSplitting: {
        groups: [
          { name: 'version', test: /\/src\/core\/version\.ts$/, priority: 2 },
          { name: 'process-tree', test: /\/src\/io\/(?:child|process-tree)\.ts$/, priority: 1 },
          // Finding files takes longer than reading them, so the code of a verification is one chunk.
          { name: 'verifying', test: /\/src\/cli\/(?:main|run-verify)\.ts$/ },
        ],
      },
    },
  })
  const chunks = output.filter((part) => part.type === 'chunk')
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}
