// Bundles the program with its dependencies: most of its start is spent on finding files.
import { join } from 'node:path'
import { build } from 'rolldown'
import { quickBuiltins } from './quick-builtins.ts'

const root = join(import.meta.dirname, '..')

/** Writes `bin.js` and its chunks into a directory, and returns the source files they were made of. */
export async function buildProgram(directory: string): Promise<readonly string[]> {
  const { output } = await build({
    platform: 'node',
    external: [/^node:/],
    input: { bin: join(root, 'src/bin.ts'), 'spawn-server': join(root, 'src/io/spawn-server.ts') },
    plugins: [quickBuiltins],
    output: {
      format: 'esm',
      chunkFileNames: 'chunks/[name]-[hash].js',
      dir: directory,
      codeSplitting: {
        groups: [
          { name: 'version', test: /\/src\/core\/version\.ts$/, priority: 2 },
          { name: 'process-tree', test: /\/src\/io\/(?:child|process-tree)\.ts$/, priority: 1 },
          // Finding files takes longer than reading them, so the code of a verification is in one.
          { name: 'verifying', test: /\/src\/cli\/(?:main|run-verify)\.ts$/ },
        ],
      },
    },
  })
  const chunks = output.filter((part) => part.type === 'chunk')
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}
