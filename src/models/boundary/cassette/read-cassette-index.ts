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
 * null when there is no cassette: the directory is missing or empty. Throws when the path contains something else, when
 * the cassette has another format version, or when it does not match the schema.
 */
export function readCassetteIndex(dir: string): CassetteIndex | null {
  const kind = pathKind(dir)
  if (kind === null) return null
  if (kind !== 'directory')
    throw new GantryError('USAGE', `${dir} is not a directory, so it is not a cassette`, {
      hint: 'Give the directory that contains cassette.json.',
    })
  const file = join(dir, indexName)
  const value = readJsonIfExists(file)
  if (value === undefined) {
    if (namesIn(dir).length === 0) return null
    throw new GantryError('NOT_FOUND', `${dir} is not a cassette: it contains no ${indexName}`, {
      hint: 'Choose another directory, or empty this one.',
    })
  }
  const known = anyIndexSchema.safeParse(value)
  if (known.success && known.data.format !== formatVersion) throw otherVersion(file, known.data)
  return checked(indexSchema, value, file)
}

/** In their order. Throws when one cannot be read, or is missing in a complete cassette. */
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

/** Texts in separate files. An edited text is used as it is now: its name is not verified. */
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
  throw damaged(`${file} is not valid in a cassette${where}: ${issue?.message ?? 'unknown form'}`, file)
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

/** Paths next to the directory of a cassette. */
export function siblingPaths(dir: string): {
  readonly lock: string
  /** A new recording, until it is complete. */
  readonly recording: string
  /** The old cassette, while it is being replaced. */
  readonly old: string
} {
  return { lock: `${dir}.lock`, recording: `${dir}.recording`, old: `${dir}.old` }
}

/** Completes a replacement after a crash between its two renames: with the new cassette if it is complete, else with the old one. */
export function recoverCassette(dir: string): void {
  const { lock, recording, old } = siblingPaths(dir)
  if (pathKind(dir) !== null || lockHolder(lock) !== null) return
  if (hasCassette(recording) && readCassetteIndex(recording)?.complete === true) moveIfExists(recording, dir)
  else if (hasCassette(old)) moveIfExists(old, dir)
}

/** Changes when an older Gantry cannot read what a newer one writes, or the reverse. */
export const formatVersion = 1

/** The part that every version of the index has. */
const anyIndexSchema = z.looseObject({ format: z.number(), gantry: z.string().optional() })

const indexSchema = z.strictObject({
  format: z.literal(formatVersion),
  gantry: z.string().describe('The version of Gantry that recorded it.'),
  recorded_at: z.iso.datetime().describe('When the recording began.'),
  facts: z.record(z.string(), z.unknown()).describe('What was recorded: agent, model and so on.'),
  exchanges: z.int().min(0).describe('The number of exchanges.'),
  complete: z.boolean().describe('False while the recording is running, and after it was interrupted.'),
})

export type CassetteIndex = z.infer<typeof indexSchema>

/**
 * A stored request. An agent sends the whole conversation with every turn. Only the items that are new since an earlier exchange are
 * stored, so a recording grows with the conversation and not with its square.
 */
const requestSchema = z.strictObject({
  method: z.string(),
  path: z.string(),
  /** The exchange that this one continues: keys missing in `body` have the values of that exchange. */
  continues: z.int().min(1).optional(),
  /** For each list, the number of leading items to take from that exchange; `body` has the later ones. */
  kept: z.record(z.string(), z.int().min(1)).optional(),
  /** Keys of that exchange that this one does not have. */
  dropped: z.array(z.string()).optional(),
  body: z.unknown(),
})

export type CassetteRequest = Readonly<z.output<typeof requestSchema>>

const exchangeSchema = z.strictObject({
  exchange: z.int().min(1),
  at: z.iso.datetime(),
  api: z.enum(['anthropic', 'openai-chat', 'openai-responses', 'gemini']),
  kind: z.enum(['turn', 'side', 'compaction', 'count_tokens', 'list_models']),
  model: z.string(),
  request: requestSchema,
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
