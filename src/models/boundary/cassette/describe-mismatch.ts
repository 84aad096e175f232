import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { shorten } from '../../../core/shorten.ts'
import type { Api, CallKind } from '../contract.ts'
import type { NormalRequest } from './normalise.ts'
import { renderRequest } from './render-request.ts'
import type { Tape, TapeExchange } from './tape.ts'

export interface UnknownCall {
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  readonly request: NormalRequest
}

const diffLinesMax = 60
const lineLengthMax = 200
/** Past this much change a diff would take long and tell nobody anything. */
const editsMax = 4_000

/** What a person needs to see why a recording has no answer: the nearest exchange, and how this request differs from it. */
export function describeMismatch(dir: string, call: UnknownCall, tape: Tape): string {
  const lines = renderRequest(call.request)
  const nearest = findNearest(call, lines, tape)
  const asked = `${call.api} ${call.kind} request to ${call.model || 'no model'}`
  if (nearest === null)
    return `The cassette ${dir} has no answer to this ${asked}: it holds no exchange of this API. ${remedy}`
  const { exchange, lines: recorded } = nearest
  const used = tape.isUsed(exchange) ? ', which was asked before' : ''
  return [
    `The cassette ${dir} has no answer to this ${asked}. ${remedy}`,
    '',
    `Nearest is exchange ${exchange.index} of ${tape.exchanges.length}${used}; from it (-) to this request (+):`,
    ...firstLines(diffOf(exchange, recorded, lines)),
  ].join('\n')
}

const remedy =
  'If the change is meant, record the cassette again (--replay record, or gantry boundary record).'

interface Nearest {
  readonly exchange: TapeExchange
  readonly lines: readonly string[]
}

/** The most alike; of those that are equally alike the one that should have come next. */
function findNearest(call: UnknownCall, lines: readonly string[], tape: Tape): Nearest | null {
  const next = tape.exchanges.findIndex((exchange) => !tape.isUsed(exchange))
  const known = new Set(lines)
  let best: (Nearest & { readonly score: number }) | null = null
  for (const [at, exchange] of tape.exchanges.entries()) {
    if (exchange.api !== call.api) continue
    const candidate = renderRequest(exchange.request)
    const common = candidate.filter((line) => known.has(line)).length
    const alike = common / Math.max(1, candidate.length, lines.length)
    const score = alike + (exchange.kind === call.kind ? 0.05 : 0) + (at === next ? 0.02 : 0)
    if (best === null || score > best.score) best = { exchange, lines: candidate, score }
  }
  return best
}

function diffOf(
  exchange: TapeExchange,
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const patch = createTwoFilesPatch(
    `exchange ${exchange.index}`,
    'this request',
    `${before.join('\n')}\n`,
    `${after.join('\n')}\n`,
    undefined,
    undefined,
    { context: 2, maxEditLength: editsMax, headerOptions: FILE_HEADERS_ONLY },
  )
  if (patch === undefined) return ['(nearly everything differs)']
  return patch.trimEnd().split('\n')
}

function firstLines(diff: readonly string[]): readonly string[] {
  const cut = diff.map((line) => shorten(line, lineLengthMax))
  if (cut.length <= diffLinesMax) return cut
  return [...cut.slice(0, diffLinesMax), `… and ${cut.length - diffLinesMax} more lines`]
}
