// Builds the page that gantry view serves. It fails when the page is larger than what it may be.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')
const maxFirstLoadBytes = 250 * 1024

/** Writes the page into a directory, and returns the source files it was made of. */
export async function buildView(directory: string): Promise<readonly string[]> {
  const built = await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: directory },
  })
  const bytes = firstLoadBytes(directory)
  if (bytes > maxFirstLoadBytes)
    throw new Error(`the first load has ${bytes} bytes, at most ${maxFirstLoadBytes}`)
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  return outputs.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
}

/** Compressed size of what a browser loads before it shows the list of runs: the page, and what its files import at once. */
function firstLoadBytes(directory: string): number {
  const assets = join(directory, 'assets')
  const html = readFileSync(join(directory, 'index.html'), 'utf8')
  const waiting = [...html.matchAll(/assets\/([\w.-]+)/g)].map(([, name = '']) => name)
  // The list of runs is the first view.
  waiting.push(...readdirSync(assets).filter((name) => /^runs-.*\.js$/.test(name)))
  const seen = new Set<string>()
  let bytes = gzipSync(html).length
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const content = readFileSync(join(assets, name))
    bytes += gzipSync(content).length
    const imports = content.toString('utf8').matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)
    waiting.push(...[...imports].map(([, imported = '']) => imported))
  }
  return bytes
}
