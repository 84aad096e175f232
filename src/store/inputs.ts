import { basename, join } from 'node:path'
import { asObject, parseJson } from '../core/json-fields.ts'
import { appendOnce } from '../io/append-log.ts'
import { readTextIfExists } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import { sha256 } from '../io/sha256.ts'
import type { FrozenInput } from './contract.ts'
import { runFile } from './run-paths.ts'

/**
 * Stores content under `inputs/`, named for its hash so the same content is stored once, and records its name. The name may be any
 * text, such as a path relative to the project. It is never used as a path here.
 */
export function freezeInput(runDir: string, name: string, content: string | Uint8Array): FrozenInput {
  const hash = sha256(content)
  const file = `${hash.slice(0, 16)}-${fileNameOf(name)}`
  const path = join(runFile.inputs(runDir), file)
  if (!isFile(path)) writeFileAtomic(path, content)
  appendOnce(runFile.inputIndex(runDir), `${JSON.stringify({ name, sha256: hash, file })}\n`)
  return { name, sha256: hash, path }
}

/** Every frozen input by name. The later of two with the same name wins. */
export function readInputs(runDir: string): Map<string, FrozenInput> {
  const found = new Map<string, FrozenInput>()
  for (const line of readTextIfExists(runFile.inputIndex(runDir))?.split('\n') ?? []) {
    const entry = parseEntry(line)
    if (entry === null) continue
    const path = join(runFile.inputs(runDir), entry.file)
    found.set(entry.name, { name: entry.name, sha256: entry.sha256, path })
  }
  return found
}

/** The end of the name, for readers of the directory. */
function fileNameOf(name: string): string {
  return (
    basename(name.replaceAll('\\', '/'))
      .replaceAll(/[^A-Za-z0-9._-]/g, '_')
      .slice(-80) || 'input'
  )
}

function parseEntry(line: string): { name: string; sha256: string; file: string } | null {
  const { name, sha256: hash, file } = asObject(parseJson(line)) ?? {}
  if (typeof name !== 'string' || typeof hash !== 'string' || typeof file !== 'string') return null
  return basename(file) === file ? { name, sha256: hash, file } : null
}
