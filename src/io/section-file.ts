import { closeSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { asInteger, asObject, asString, type JsonObject, parseJson } from '../core/json-fields.ts'
import { makeDirectories } from './directory.ts'
import { orElse, translated } from './fs-error.ts'
import { randomSuffix } from './ids.ts'
import { readSpan } from './line-file.ts'
import { sha256 } from './sha256.ts'

export interface FileSection {
  readonly name: string
  readonly bytes: Uint8Array
}

/**
 * Writes a file of named sections, each with its hash, one at a time. The file appears completely or not at all.
 *
 * The format is a line of JSON (`head`), then for every section a line of JSON and its bytes, then a line with the number of sections.
 */
export function writeSections(path: string, head: JsonObject, sections: Iterable<FileSection>): void {
  makeDirectories(dirname(path))
  const temporary = `${path}.${randomSuffix(6)}.tmp`
  translated(`write ${path}`, () => {
    const fd = openSync(temporary, 'wx')
    try {
      const line = (value: unknown): void => writeFileSync(fd, `${JSON.stringify(value)}\n`)
      line(head)
      let count = 0
      for (const { name, bytes } of sections) {
        line({ name, bytes: bytes.length, sha256: sha256(bytes) })
        writeFileSync(fd, bytes)
        count += 1
      }
      line({ sections: count })
      fsyncSync(fd)
      closeSync(fd)
      renameSync(temporary, path)
    } catch (error) {
      orElse(undefined, () => closeSync(fd))
      rmSync(temporary, { force: true })
      throw error
    }
  })
}

/** The first line; null when the file does not begin with a JSON object. */
export function readSectionHead(path: string): JsonObject | null {
  const file = openReader(path)
  try {
    return asObject(file.line())
  } finally {
    file.close()
  }
}

/** Reads one section at a time. Throws GantryError CORRUPT when one is damaged or the end is missing. */
export function* readSections(path: string): Generator<FileSection> {
  const file = openReader(path)
  try {
    file.line()
    for (let count = 0; ; count += 1) {
      const { name, bytes, sha256: hash, sections } = asObject(file.line()) ?? {}
      if (sections === count) return
      const length = asInteger(bytes) ?? -1
      const content = length < 0 ? null : file.bytes(length)
      if (content === null || sha256(content) !== hash) throw damaged(path)
      yield { name: asString(name) ?? '', bytes: content }
    }
  } finally {
    file.close()
  }
}

/** A line of JSON is short; more than this is no file of sections. */
const maxLineBytes = 1 << 16

function openReader(path: string) {
  const fd = translated(`read ${path}`, () => openSync(path, 'r'))
  let position = 0
  const at = (length: number): Buffer => readSpan(fd, { offset: position, length })
  return {
    /** The next line as JSON; undefined when it is not JSON or there is none. */
    line: (): unknown => {
      for (let length = 256; ; length *= 4) {
        const room = at(length)
        const end = room.indexOf(10)
        if (end !== -1) {
          position += end + 1
          return parseJson(room.toString('utf8', 0, end))
        }
        if (room.length < length || length > maxLineBytes) return undefined
      }
    },
    bytes: (length: number): Buffer | null => {
      if (position + length > fstatSync(fd).size) return null
      const room = at(length)
      position += length
      return room
    },
    close: (): void => closeSync(fd),
  }
}

function damaged(path: string): GantryError {
  return new GantryError('CORRUPT', `${path} is damaged or incomplete`, {
    hint: 'Copy it again from the machine that made it, or make it again there with "gantry runs report".',
  })
}
