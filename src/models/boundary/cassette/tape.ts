import { sha256 } from '../../../io/sha256.ts'
import type { Api, CallKind } from '../contract.ts'
import type { NormalRequest } from './normalise.ts'
import type { StoredResponse } from './stored-response.ts'

/** One exchange in memory. */
export interface TapeExchange {
  /** From 1, as its file is named. */
  readonly index: number
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  readonly request: NormalRequest
  /** The answer; every text of it goes through `text`, which fills in places. */
  readonly response: (text: (stored: string) => string) => StoredResponse
}

/** The exchanges of a cassette, found by what was asked. */
export interface Tape {
  readonly exchanges: readonly TapeExchange[]
  add(exchange: TapeExchange, options?: { readonly used: boolean }): void
  /**
   * The next exchange that asked the same and was not given out yet. A retry may ask once more than was recorded, so the
   * last one is given again. Where none asked exactly this, the order of lines is left out that two pipes left to chance.
   * null when none asked this either.
   */
  take(api: Api, request: NormalRequest): TapeExchange | null
  isUsed(exchange: TapeExchange): boolean
}

export function createTape(): Tape {
  const exchanges: TapeExchange[] = []
  const byQuestion = new Map<string, TapeExchange[]>()
  const used = new Set<TapeExchange>()
  return {
    exchanges,
    add: (exchange, options = { used: false }) => {
      exchanges.push(exchange)
      const key = question(exchange.api, exchange.request)
      const same = byQuestion.get(key) ?? []
      same.push(exchange)
      byQuestion.set(key, same)
      if (options.used) used.add(exchange)
    },
    take: (api, request) => {
      const same = byQuestion.get(question(api, request)) ?? inAnotherOrder(exchanges, api, request)
      const next = same.find((exchange) => !used.has(exchange)) ?? same.at(-1) ?? null
      if (next !== null) used.add(next)
      return next
    },
    isUsed: (exchange) => used.has(exchange),
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

/** null where there are no lines whose order is left to chance. */
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
 * Codex and Copilot read what a command prints to stdout and to stderr through two pipes and join the pieces as they come, so
 * that the same command gives its lines in another order the next time. These are their marks on such a result.
 */
const fromTwoPipes = /^Chunk ID: |^Wall time: |<shellId: /m

/** The same value, with the lines of such results sorted; null when there is none in it. */
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

/** JSON of a normal value, made once per object. Normal values have their keys in order, so equal ones have equal JSON. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const text = known.get(value) ?? JSON.stringify(value)
  known.set(value, text)
  return text
}
