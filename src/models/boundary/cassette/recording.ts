import { dirname, join } from 'node:path'
import { GantryError } from '../../../core/error.ts'
import { version } from '../../../core/version.ts'
import { makeDirectories, moveIfExists } from '../../../io/directory.ts'
import { removeTree, writeFileAtomic, writeJsonAtomic } from '../../../io/files.ts'
import { acquireLock, type Lock, lockHolder } from '../../../io/lock.ts'
import { isFile, pathKind } from '../../../io/path-kind.ts'
import { sha256 } from '../../../io/sha256.ts'
import type { IncomingCall } from '../contract.ts'
import type { CassetteMode } from './contract.ts'
import { loadTape, unpackResponse } from './load-tape.ts'
import { type Normalise, type NormalRequest, namesTakenFrom } from './normalise.ts'
import { type BlobWriter, packValue } from './pack-value.ts'
import {
  beside,
  blobPath,
  blobReader,
  type CassetteIndex,
  countExchanges,
  type ExchangeFile,
  exchangeName,
  formatVersion,
  hasCassette,
  indexName,
  readExchange,
  readIndex,
} from './read-directory.ts'
import type { KeptReply } from './record-reply.ts'
import type { PlaceCodec } from './recorded-directories.ts'
import { type EarlierRequest, shareRequest } from './share-request.ts'
import { readResponse } from './stored-response.ts'
import type { Tape } from './tape.ts'
import { replaceNames, storeNames } from './tool-call-ids.ts'

export interface RecordingOptions {
  readonly dir: string
  readonly mode: CassetteMode
  readonly facts: Readonly<Record<string, unknown>>
  readonly redact: (text: string) => string
  readonly now: () => number
  readonly places: PlaceCodec
  readonly normalise: Normalise
  readonly tape: Tape
  readonly recordedAt: string
  /** Of the cassette that is added to. */
  readonly index: CassetteIndex | null
}

export interface NewExchange {
  readonly incoming: IncomingCall
  readonly request: () => NormalRequest
  readonly reply: KeptReply
}

/** The writing side of a cassette. */
export interface Recording {
  /** Takes the lock and marks the cassette incomplete. Why that cannot be, or null. */
  begin(): string | null
  /** Never throws: what goes wrong is told by `finish`. */
  add(exchange: NewExchange): void
  finish(): void
  abandon(): void
  count(): number
}

/** A new recording begins at once and stands beside the old one until it is whole; additions begin with the first. */
export function createRecording(options: RecordingOptions): Recording {
  const { dir, mode, tape } = options
  // Beside and not inside: a cassette that is replaced must stay whole until then.
  const aside = mode === 'record' && hasCassette(dir) ? beside(dir).recording : dir
  let lock: Lock | null = null
  let writer: CassetteWriter | null = null
  let failure: unknown = null
  let isOver = false
  let count = 0

  function begin(): string | null {
    if (writer !== null) return null
    if (isOver) return `the recording of the cassette ${dir} is over`
    lock ??= takeLock(dir)
    if (lock === null) return lockedMessage(dir)
    try {
      if (mode === 'record') clear(dir, aside)
      else catchUp(options)
      writer = createWriter(aside, {
        recordedAt: options.recordedAt,
        facts: redactFacts(options.index?.facts ?? options.facts, options.redact),
      })
      writer.begin()
    } catch (cause) {
      release()
      throw cause
    }
    return null
  }

  function add(exchange: NewExchange): void {
    if (writer === null || failure !== null) return
    try {
      const index = tape.exchanges.length + 1
      const request = exchange.request()
      const file = packExchange({ index, request }, exchange, writer, options)
      writer.exchange(file)
      const { api, kind, model } = file
      const getBlob = blobReader(aside)
      const response = (text: (stored: string) => string) => unpackResponse(file.response, getBlob, text)
      tape.add({ index, api, kind, model, request, response }, { used: true })
      count += 1
    } catch (cause) {
      failure = cause
    }
  }

  function release(): void {
    lock?.release()
    lock = null
    writer = null
  }

  function finish(): void {
    if (isOver) return
    // Nothing was missing after all: what was broken off is whole.
    if (mode === 'auto' && options.index?.complete === false) failure ??= lockedError(begin())
    isOver = true
    if (writer === null && failure === null) return
    try {
      if (failure !== null) throw failure
      writer?.finish(tape.exchanges.length)
      if (aside !== dir) replace(dir, aside)
    } finally {
      release()
    }
  }

  const blocked = mode === 'record' ? lockedError(begin()) : null
  if (blocked !== null) throw blocked
  return {
    begin,
    add,
    finish,
    abandon: () => {
      if (writer !== null && mode === 'record') removeTree(aside)
      release()
    },
    count: () => count,
  }
}

function packExchange(
  { index, request }: EarlierRequest,
  { incoming, reply }: NewExchange,
  blobs: CassetteWriter,
  { now, redact, places, tape }: RecordingOptions,
): ExchangeFile {
  const { format, call } = incoming
  const shared = shareRequest(request, tape.exchanges)
  const response = readResponse(reply, format)
  const names = namesTakenFrom(request)
  const text = (words: string): string => storeNames(places.store(redact(words)), names)
  // A name may be a number in it.
  const openJson = (words: string): boolean => replaceNames(words, names) === words
  const packed = packValue(response, { blobs, text, openJson }) as ExchangeFile['response']
  return {
    exchange: index,
    at: new Date(now()).toISOString(),
    api: format.api,
    kind: call.kind,
    model: call.model,
    request: { ...shared, body: packValue(shared.body, { blobs }) } as ExchangeFile['request'],
    // Numbers and names of headers are no text of a model.
    response: { ...packed, status: response.status, headers: { ...response.headers } },
  }
}

/** What another process has added since the cassette was read. */
function catchUp({ dir, tape, normalise }: RecordingOptions): void {
  if (readIndex(dir) === null) return
  const from = tape.exchanges.length + 1
  const files = Array.from({ length: countExchanges(dir) - from + 1 }, (_, at) =>
    readExchange(dir, from + at),
  )
  loadTape(dir, files, tape, normalise)
}

/** A directory that holds something else is not ours to empty. */
function clear(dir: string, aside: string): void {
  if (aside === dir) readIndex(dir)
  else removeTree(aside)
  makeDirectories(aside)
}

/** Two renames; `recoverCassette` ends what a crash leaves between them. */
function replace(dir: string, aside: string): void {
  const { old } = beside(dir)
  removeTree(old)
  moveIfExists(dir, old)
  moveIfExists(aside, dir)
  removeTree(old)
}

function takeLock(dir: string): Lock | null {
  if (pathKind(dirname(dir)) === null) makeDirectories(dirname(dir))
  return acquireLock(beside(dir).lock, { label: 'recording a cassette' })
}

function lockedError(why: string | null): GantryError | null {
  return why === null ? null : new GantryError('LOCKED', why, { hint: 'Wait for it to end.' })
}

function lockedMessage(dir: string): string {
  const holder = lockHolder(beside(dir).lock)
  const who = holder === null ? 'another process' : `process ${holder.pid} (${holder.label})`
  return `${who} is recording into the cassette ${dir}`
}

function redactFacts(
  facts: Readonly<Record<string, unknown>>,
  redact: (text: string) => string,
): Readonly<Record<string, unknown>> {
  const hidden: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(facts), (_, value) =>
    typeof value === 'string' ? redact(value) : value,
  )
  return hidden
}

/** Writes into one directory. Everything is atomic; the index says `complete: false` until `finish`. */
interface CassetteWriter extends BlobWriter {
  begin(): void
  exchange(file: ExchangeFile): void
  finish(exchanges: number): void
}

function createWriter(
  dir: string,
  about: { readonly recordedAt: string; readonly facts: Readonly<Record<string, unknown>> },
): CassetteWriter {
  const writeIndex = (exchanges: number, complete: boolean): void => {
    const { recordedAt, facts } = about
    const index: CassetteIndex = {
      format: formatVersion,
      gantry: version,
      recorded_at: recordedAt,
      facts: { ...facts },
      exchanges,
      complete,
    }
    writeJsonAtomic(join(dir, indexName), index)
  }
  return {
    begin: () => writeIndex(0, false),
    put: (text) => {
      const name = sha256(text).slice(0, 16)
      const path = blobPath(dir, name)
      if (!isFile(path)) writeFileAtomic(path, text)
      return name
    },
    exchange: (file) => writeJsonAtomic(join(dir, exchangeName(file.exchange)), file),
    finish: (exchanges) => writeIndex(exchanges, true),
  }
}
