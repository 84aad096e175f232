import { GantryError } from '../../../core/error.ts'
import { shorten } from '../../../core/shorten.ts'
import type { Api, CallMessage } from '../contract.ts'
import type { WireFormat } from '../wire/contract.ts'
import { wireFormats } from '../wire/index.ts'
import type { CassetteContent, ExchangeView } from './contract.ts'
import { loadTape } from './load-tape.ts'
import type { NormalRequest } from './normalise.ts'
import { readCassetteIndex, readExchanges } from './read-cassette-index.ts'
import { writeResponse } from './stored-response.ts'
import { createTape, type TapeExchange } from './tape.ts'

const digestLength = 120

/** Reads a cassette for display. Throws as `openCassette` does; an incomplete cassette is shown as far as it goes. */
export function readCassette(dir: string): CassetteContent {
  const index = readCassetteIndex(dir)
  if (index === null)
    throw new GantryError('NOT_FOUND', `there is no cassette at ${dir}`, {
      hint: 'Give a directory that contains cassette.json.',
    })
  const tape = createTape()
  loadTape(dir, readExchanges(dir, index), tape, (request) => request)
  return {
    dir,
    gantryVersion: index.gantry,
    recordedAt: index.recorded_at,
    facts: index.facts,
    complete: index.complete,
    exchanges: tape.exchanges.map(view),
  }
}

function view(exchange: TapeExchange): ExchangeView {
  const { index, api, kind, model, request } = exchange
  const format = formatOf(api)
  const { status, headers, chunks } = writeResponse(exchange.response((text) => text))
  const reader = format.createReader(headers['content-type'] ?? '')
  for (const chunk of chunks) reader.push(chunk)
  const { text, toolCalls, tokens, error } = reader.end()
  return {
    index,
    api,
    kind,
    model,
    lastMessage: lastMessage(format, request),
    status,
    text: error === null ? text : error.message,
    toolCalls: toolCalls.map(({ name, input }) => ({ name, input })),
    tokens,
  }
}

function lastMessage(format: WireFormat, { method, path, body }: NormalRequest): string {
  const route = format.route(method, path.split('?')[0] ?? path)
  if (route === null) return ''
  const last = format.readCall(body, route).messages.findLast((message) => message.role !== 'system')
  return last === undefined ? '' : digest(last)
}

function digest({ role, text, toolCalls, toolResults }: CallMessage): string {
  const parts = [
    ...toolResults.map((result) => `${result.isError ? 'error' : 'result'}: ${result.text}`),
    // The agent's own additions would hide the prompt.
    text.replaceAll(/<(system-reminder|session_context|environment_context)>[\s\S]*?<\/\1>/g, ''),
    ...toolCalls.map(({ name }) => `calls ${name}`),
  ]
  const line = `${role}: ${parts.filter((part) => part !== '').join(' | ')}`.replaceAll(/\s+/g, ' ').trim()
  return shorten(line, digestLength)
}

function formatOf(api: Api): WireFormat {
  const format = wireFormats.find((one) => one.api === api)
  if (format === undefined) throw new Error(`no wire format for ${api}`)
  return format
}
