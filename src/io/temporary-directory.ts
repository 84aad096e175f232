import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of its own that is gone when the scope ends: `using scratch = temporaryDirectory('gantry-')`. */
export function temporaryDirectory(prefix: string): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), prefix))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
