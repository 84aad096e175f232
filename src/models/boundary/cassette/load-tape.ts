import { GantryError } from '../../../core/error.ts'
import type { Normalise, NormalRequest } from './normalise.ts'
import { unpackValue } from './pack-value.ts'
import { blobReader, type CassetteRequest, type ExchangeFile, exchangeName } from './read-cassette-index.ts'
import { joinRequest } from './share-request.ts'
import type { StoredResponse } from './stored-response.ts'
import type { Tape, TapeExchange } from './tape.ts'

export function loadTape(dir: string, files: readonly ExchangeFile[], tape: Tape, normalise: Normalise) {
  const getBlob = blobReader(dir)
  const requests = new Map<number, NormalRequest>()
  for (const { index, request } of tape.exchanges) requests.set(index, request)
  for (const file of files) {
    // The schema has checked it; unpacking changes only texts.
    const stored = unpackValue(file.request, { getBlob }) as CassetteRequest
    const request = joinRequest(stored, (index) => requests.get(index))
    if (request === null) throw notJoined(dir, file, stored)
    requests.set(file.exchange, request)
    // Report a missing text before an agent starts.
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
    // Normalise again: the file may have been edited, or recorded by a Gantry that knew fewer volatile values.
    request: normalise(request, api),
    response: (text) => unpackResponse(file.response, getBlob, text),
  }
}

export function unpackResponse(
  packed: ExchangeFile['response'],
  getBlob: (name: string) => string,
  text?: (text: string) => string,
): StoredResponse {
  // The schema has checked its structure, and packed values unpack to texts.
  return unpackValue(packed, { getBlob, ...(text !== undefined && { text }) }) as StoredResponse
}

function notJoined(dir: string, { exchange }: ExchangeFile, { continues }: CassetteRequest): GantryError {
  const file = `${dir}/${exchangeName(exchange)}`
  return new GantryError(
    'CORRUPT',
    `${file} continues exchange ${continues}, but items it refers to are missing there`,
    { hint: 'Restore the file, or record it again.', at: { file } },
  )
}
