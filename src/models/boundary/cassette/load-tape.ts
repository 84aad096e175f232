import { GantryError } from '../../../core/error.ts'
import type { Normalise, NormalRequest } from './normalise.ts'
import { unpackValue } from './pack-value.ts'
import { blobReader, type ExchangeFile, exchangeName } from './read-directory.ts'
import { type CassetteRequest, joinRequest } from './share-request.ts'
import type { StoredResponse } from './stored-response.ts'
import type { Tape, TapeExchange } from './tape.ts'

/** Puts exchanges that were read from the directory on the tape, after those that are on it already. */
export function loadTape(
  dir: string,
  files: readonly ExchangeFile[],
  tape: Tape,
  normalise: Normalise,
): void {
  const getBlob = blobReader(dir)
  const requests = new Map<number, NormalRequest>()
  for (const { index, request } of tape.exchanges) requests.set(index, request)
  for (const file of files) {
    // Checked by the schema; unpacking changes texts only.
    const stored = unpackValue(file.request, { getBlob }) as CassetteRequest
    const request = joinRequest(stored, (index) => requests.get(index))
    if (request === null) throw notJoined(dir, file, stored)
    requests.set(file.exchange, request)
    // A text that is missing is to be known before an agent starts.
    unpackResponse(file.response, getBlob)
    tape.add(exchangeOf(file, request, getBlob, normalise))
  }
}

function exchangeOf(
  file: ExchangeFile,
  request: NormalRequest,
  getBlob: (name: string) => string,
  normalise: Normalise,
): TapeExchange {
  const { exchange, api, kind, model } = file
  return {
    index: exchange,
    api,
    kind,
    model,
    // Once more: it may have been edited, or recorded by a Gantry that knew less of what is volatile.
    request: normalise(request, api),
    response: (text) => unpackResponse(file.response, getBlob, text),
  }
}

export function unpackResponse(
  packed: ExchangeFile['response'],
  getBlob: (name: string) => string,
  text?: (text: string) => string,
): StoredResponse {
  // The schema has checked its frame, and what is packed in it unpacks to texts.
  return unpackValue(packed, { getBlob, ...(text !== undefined && { text }) }) as StoredResponse
}

function notJoined(dir: string, { exchange }: ExchangeFile, { continues }: CassetteRequest): GantryError {
  const file = `${dir}/${exchangeName(exchange)}`
  return new GantryError(
    'CORRUPT',
    `${file} continues exchange ${continues}, which does not have what this one needs of it`,
    {
      hint: 'Restore the file, or record it again.',
      at: { file },
    },
  )
}
