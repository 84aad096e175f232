import { dirname, join } from 'node:path'
import { GantryError } from '../../../core/error.ts'
import { version } from '../../../core/version.ts'
import { makeDirectories, moveIfExists } from '../../../io/directory.ts'
import { removeTree, writeFileAtomic, writeJsonAtomic } from '../../../io/files.ts'
import { acquireLock, type Lock, lockHolder } from '../../../io/lock.ts'
import { isFile, pathKind } from '../../../io/path-kind.ts'
import { sha256 } from '../../../io/sha256.ts'
import type { IncomingCall } from '../contract.ts'
import type { CassetteOptions } from './contract.ts'
import { loadTape, unpackResponse } from './load-tape.ts'
import { type Normalise, type NormalRequest, namesTakenFrom } from './normalise.ts'
import { packValue } from './pack-value.ts'
import {
  blobPath,
  blobReader,
  type CassetteIndex,
  countExchanges,
  type ExchangeFile,
  exchangeName,
  formatVersion,
  hasCassette,
  indexName,
  readCassetteIndex,
  readExchange,
  siblingPaths,
} from './read-cassette-index.ts'
import type { KeptReply } from './record-reply.ts'
import type { PlaceCodec } from './recorded-directories.ts'
import { type EarlierRequest, shareRequest } from './share-request.ts'
import { readResponse } from './stored-response.ts'
import type { Tape } from './tape.ts'
import { replaceNames, storeNames } from './tool-call-ids.ts'

export interface RecordingOptions extends Pick<CassetteOptions, 'dir' | 'mode' | 'facts' | 'redact'> {
  readonly now: () => number
  readonly places: PlaceCodec
  readonly normalise: Normalise
  readonly tape: Tape
  readonly recordedAt: string
  /** Of the cassette that is extended. */
  readonly index: CassetteIndex | null
}

export interface NewExchange {
  readonly incoming: IncomingCall
  readonly request: () => NormalRequest
  readonly reply: KeptReply
}

/** Writes a cassette. A new recording starts at once, next to the old one, until it is complete; an addition starts with its first exchange. */
export function createRecording(options: RecordingOptions) {
  const { dir, mode, tape } = options
  // Next to the cassette, not inside: a cassette that is replaced must stay complete until then.
  const aside = mode === 'record' && hasCassette(dir) ? siblingPaths(dir).recording : dir
  let lock: Lock | null = null
  let writer: CassetteWriter | null = null
  let failure: unknown = null
  let isOver = false
  let count = 0

  /** Takes the lock and marks the cassette incomplete. Returns the reason if that fails, else null. */
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

  /** Never throws: `finish` reports errors. */
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
    // Nothing was missing, so the interrupted recording is complete.
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
  // A generated name may be a number there.
  const openJson = (words: string): boolean => replaceNames(words, names) === words
  const packed = packValue(response, { blobs, text, openJson }) as ExchangeFile['response']
  return {
    exchange: index,
    at: new Date(now()).toISOString(),
    api: format.api,
    kind: call.kind,
    model: call.model,
    request: { ...shared, body: packValue(shared.body, { blobs }) },
    // Numbers and header names are not text of a model.
    response: { ...packed, status: response.status, headers: { ...response.headers } },
  }
}

/** The exchanges that another process has added since the cassette was read. */
function catchUp({ dir, tape, normalise }: RecordingOptions): void {
  if (readCassetteIndex(dir) === null) return
  const from = tape.exchanges.length + 1
  const files = Array.from({ length: countExchanges(dir) - from + 1 }, (_, at) =>
    readExchange(dir, from + at),
  )
  loadTape(dir, files, tape, normalise)
}

/** Never empties a directory with other files. */
function clear(dir: string, aside: string): void {
  if (aside === dir) readCassetteIndex(dir)
  else removeTree(aside)
  makeDirectories(aside)
}

/** Two renames; `recoverCassette` completes them after a crash. */
function replace(dir: string, aside: string): void {
  const { old } = siblingPaths(dir)
  removeTree(old)
  moveIfExists(dir, old)
  moveIfExists(aside, dir)
  removeTree(old)
}

function takeLock(dir: string): Lock | null {
  if (pathKind(dirname(dir)) === null) makeDirectories(dirname(dir))
  return acquireLock(siblingPaths(dir).lock, { label: 'recording a cassette' })
}

function lockedError(why: string | null): GantryError | null {
  return why === null ? null : new GantryError('LOCKED', why, { hint: 'Wait until it is finished.' })
}

function lockedMessage(dir: string): string {
  const holder = lockHolder(siblingPaths(dir).lock)
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

type CassetteWriter = ReturnType<typeof createWriter>

/** Writes into one directory. Every write is atomic; the index has `complete: false` until `finish`. */
function createWriter(
  dir: string,
  { recordedAt, facts }: { readonly recordedAt: string; readonly facts: Readonly<Record<string, unknown>> },
) {
  const writeIndex = (exchanges: number, complete: boolean): void => {
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
    begin: (): void => writeIndex(0, false),
    put: (text: string): string => {
      const name = sha256(text).slice(0, 16)
      const path = blobPath(dir, name)
      if (!isFile(path)) writeFileAtomic(path, text)
      return name
    },
    exchange: (file: ExchangeFile): void => writeJsonAtomic(join(dir, exchangeName(file.exchange)), file),
    finish: (exchanges: number): void => writeIndex(exchanges, true),
  }
}
