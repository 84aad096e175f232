import { join } from 'node:path'
import type { z } from 'zod'
import { GantryError } from '../../../core/error.ts'
import { namesIn, readTextIfExists } from '../../../io/directory.ts'
import { readJsonIfExists } from '../../../io/files.ts'
import { pathKind } from '../../../io/path-kind.ts'
import {
  anyIndexSchema,
  type CassetteIndex,
  type ExchangeFile,
  exchangeSchema,
  formatVersion,
  indexSchema,
} from './exchange-file.ts'

export const indexName = 'cassette.json'
const again = 'Record it again.'

export function exchangeName(index: number): string {
  return `${String(index).padStart(4, '0')}.json`
}

export function hasCassette(dir: string): boolean {
  return pathKind(join(dir, indexName)) === 'file'
}

/**
 * null when there is no cassette: no such directory, or an empty one. Throws when something else stands there, when it
 * comes from another version, or when it does not fit the schema.
 */
export function readIndex(dir: string): CassetteIndex | null {
  const kind = pathKind(dir)
  if (kind === null) return null
  if (kind !== 'directory')
    throw new GantryError('USAGE', `${dir} is not a directory, so it is no cassette`, {
      hint: 'Name the directory that holds cassette.json.',
    })
  const file = join(dir, indexName)
  const value = readJsonIfExists(file)
  if (value === undefined) {
    if (namesIn(dir).length === 0) return null
    throw new GantryError('NOT_FOUND', `${dir} holds no cassette: there is no ${indexName} in it`, {
      hint: 'Name another directory, or empty this one.',
    })
  }
  const known = anyIndexSchema.safeParse(value)
  if (known.success && known.data.format !== formatVersion) throw otherVersion(file, known.data)
  return checked(indexSchema, value, file)
}

/** In their order. Throws when one is missing in a cassette that is complete, or cannot be read. */
export function readExchanges(dir: string, index: CassetteIndex): readonly ExchangeFile[] {
  const last = Math.max(index.complete ? index.exchanges : 0, ...namesIn(dir).map(numberOf))
  return Array.from({ length: last }, (_, at) => readExchange(dir, at + 1))
}

export function readExchange(dir: string, index: number): ExchangeFile {
  const file = join(dir, exchangeName(index))
  const value = readJsonIfExists(file)
  if (value === undefined) throw damaged(`${file} is missing`, file)
  return { ...checked(exchangeSchema, value, file), exchange: index }
}

export function countExchanges(dir: string): number {
  return Math.max(0, ...namesIn(dir).map(numberOf))
}

/** Texts that stand apart. A text that was edited is taken as it is now: its name is only a name. */
export function blobReader(dir: string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const text = known.get(name) ?? readBlob(dir, name)
    known.set(name, text)
    return text
  }
}

export function blobPath(dir: string, name: string): string {
  return join(dir, 'blobs', `${name}.txt`)
}

function readBlob(dir: string, name: string): string {
  const file = blobPath(dir, name)
  const text = /^[0-9a-z]+$/.test(name) ? readTextIfExists(file) : null
  if (text === null) throw damaged(`${file} is missing, and an exchange of ${dir} needs it`, file)
  return text
}

function numberOf(name: string): number {
  return Number(/^(\d{4,})\.json$/.exec(name)?.[1] ?? 0)
}

function checked<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
  throw damaged(`${file} is not what a cassette holds${where}: ${issue?.message ?? 'unknown form'}`, file)
}

function damaged(message: string, file: string): GantryError {
  const hint = `Restore the file, or r${again.slice(1)}`
  return new GantryError('CORRUPT', message, { hint, at: { file } })
}

function otherVersion(
  file: string,
  { format, gantry }: { readonly format: number; readonly gantry?: string | undefined },
): GantryError {
  const by = gantry === undefined ? 'another version of Gantry' : `Gantry ${gantry}`
  return new GantryError(
    'INVALID_FILE',
    `${file} has format ${format}, recorded by ${by}; this Gantry reads format ${formatVersion}`,
    { hint: `${again.slice(0, -1)}, or replay it with the Gantry that recorded it.`, at: { file } },
  )
}
