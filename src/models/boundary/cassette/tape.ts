import { sha256 } from '../../../io/sha256.ts'
import type { Api, CallKind } from '../contract.ts'
import type { NormalRequest } from './normalise.ts'
import type { StoredResponse } from './stored-response.ts'

export interface TapeExchange {
  /** From 1, as its file is named. */
  readonly index: number
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  readonly request: NormalRequest
  /** The answer; every text in it goes through `text`, which fills in paths. */
  readonly response: (text: (stored: string) => string) => StoredResponse
}

export type Tape = ReturnType<typeof createTape>

export function createTape() {
  const exchanges: TapeExchange[] = []
  const byQuestion = new Map<string, TapeExchange[]>()
  const used = new Set<TapeExchange>()
  return {
    exchanges: exchanges as readonly TapeExchange[],
    add: (exchange: TapeExchange, options = { used: false }): void => {
      exchanges.push(exchange)
      const key = question(exchange.api, exchange.request)
      const same = byQuestion.get(key) ?? []
      same.push(exchange)
      byQuestion.set(key, same)
      if (options.used) used.add(exchange)
    },
    /**
     * The next unused exchange with this request. A retry may ask more often than was recorded, so the last one is
     * repeated. If no request is equal, lines of stdout and stderr may match in another order. null when nothing matches.
     */
    take: (api: Api, request: NormalRequest): TapeExchange | null => {
      const same = byQuestion.get(question(api, request)) ?? inAnotherOrder(exchanges, api, request)
      const next = same.find((exchange) => !used.has(exchange)) ?? same.at(-1) ?? null
      if (next !== null) used.add(next)
      return next
    },
    isUsed: (exchange: TapeExchange) => used.has(exchange),
  }
}

function inAnotherOrder(
  exchanges: readonly TapeExchange[],
  api: Api,
  request: NormalRequest,
): readonly TapeExchange[] {
  const asked = looseQuestion(api, request)
  if (asked === null) return []
  return exchanges.filter(
    (exchange) => exchange.api === api && looseQuestion(api, exchange.request) === asked,
  )
}

const looseQuestions = new WeakMap<NormalRequest, string | null>()

/** null when there are no lines with a random order. */
function looseQuestion(api: Api, request: NormalRequest): string | null {
  const known = looseQuestions.get(request)
  if (known !== undefined) return known
  const body = withoutLineOrder(request.body)
  const loose = body === null ? null : question(api, { ...request, body })
  looseQuestions.set(request, loose)
  return loose
}

function question(api: Api, { method, path, body }: NormalRequest): string {
  return sha256(`${api} ${method} ${path}\n${canonical(body)}`)
}

/**
 * Codex and Copilot read stdout and stderr of a command through two pipes and join the pieces as they arrive, so the
 * same command can give its lines in another order. These marks identify such results.
 */
const fromTwoPipes = /^Chunk ID: |^Wall time: |<shellId: /m

/** The same value, with the lines of such results sorted; null when it has none. */
function withoutLineOrder(value: unknown): unknown {
  let isChanged = false
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') {
      if (!fromTwoPipes.test(item)) return item
      isChanged = true
      return item.split('\n').sort().join('\n')
    }
    if (Array.isArray(item)) return item.map(walk)
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([key, field]) => [key, walk(field)]))
  }
  const walked = walk(value)
  return isChanged ? walked : null
}

const known = new WeakMap<object, string>()

/** JSON of a normalised value, cached per object. Normalised values have sorted keys, so equal values have equal JSON. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const text = known.get(value) ?? JSON.stringify(value)
  known.set(value, text)
  return text
}
