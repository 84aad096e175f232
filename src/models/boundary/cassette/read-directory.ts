import { join } from 'node:path'
import { z } from 'zod'
import { GantryError } from '../../../core/error.ts'
import { moveIfExists, namesIn, readTextIfExists } from '../../../io/directory.ts'
import { readJsonIfExists } from '../../../io/files.ts'
import { lockHolder } from '../../../io/lock.ts'
import { pathKind } from '../../../io/path-kind.ts'

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

/** Names beside the directory of a cassette. */
export function beside(dir: string): {
  readonly lock: string
  /** A new recording, until it is whole. */
  readonly recording: string
  /** The old one, while it is being replaced. */
  readonly old: string
} {
  return { lock: `${dir}.lock`, recording: `${dir}.recording`, old: `${dir}.old` }
}

/** Ends a replacement that a crash broke off between its two renames: the new cassette if it is whole, else the old one. */
export function recoverCassette(dir: string): void {
  const { lock, recording, old } = beside(dir)
  if (pathKind(dir) !== null || lockHolder(lock) !== null) return
  if (hasCassette(recording) && readIndex(recording)?.complete === true) moveIfExists(recording, dir)
  else if (hasCassette(old)) moveIfExists(old, dir)
}

/** Changes when an older Gantry could not read what a newer one writes, or the other way round. */
export const formatVersion = 1

/** Only this much is sure about an index of any version. */
const anyIndexSchema = z.looseObject({ format: z.number(), gantry: z.string().optional() })

const indexSchema = z.strictObject({
  format: z.literal(formatVersion),
  gantry: z.string().describe('The version of Gantry that recorded it.'),
  recorded_at: z.iso.datetime().describe('When the recording began.'),
  facts: z.record(z.string(), z.unknown()).describe('What was recorded: agent, model and the like.'),
  exchanges: z.int().min(0).describe('How many exchanges there are.'),
  complete: z.boolean().describe('False while it is being recorded, and when that was broken off.'),
})

export type CassetteIndex = z.infer<typeof indexSchema>

const exchangeSchema = z.strictObject({
  exchange: z.int().min(1),
  at: z.iso.datetime(),
  api: z.enum(['anthropic', 'openai-chat', 'openai-responses', 'gemini']),
  kind: z.enum(['turn', 'side', 'compaction', 'count_tokens', 'list_models']),
  model: z.string(),
  request: z.strictObject({
    method: z.string(),
    path: z.string(),
    continues: z.int().min(1).optional(),
    kept: z.record(z.string(), z.int().min(1)).optional(),
    dropped: z.array(z.string()).optional(),
    body: z.unknown(),
  }),
  response: z.strictObject({
    status: z.int().min(100).max(599),
    headers: z.record(z.string(), z.string()),
    events: z
      .array(
        z.strictObject({
          event: z.string().optional(),
          data: z.unknown().optional(),
          text: z.unknown().optional(),
        }),
      )
      .optional(),
    json: z.unknown().optional(),
    text: z.unknown().optional(),
  }),
})

export type ExchangeFile = z.infer<typeof exchangeSchema>
