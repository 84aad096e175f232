import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomSuffix } from './ids.ts'

/** Writes a file so that a reader sees the old content or the new, never half of it. Makes missing parents. */
export function writeFileAtomic(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}.${randomSuffix(4)}.tmp`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}

export function writeJsonAtomic(path: string, value: unknown): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** undefined when the file is not there. */
export function readJsonIfExists(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}
