import { openBatchServer, promptOf, type SentCall } from '../../support/batch-server.ts'

export interface Anthropic {
  readonly env: Readonly<Record<string, string>>
  /** Attempts of the trials that were asked about, batch by batch. */
  readonly batches: readonly (readonly number[])[]
  /** Attempts that were asked about in ordinary calls. */
  readonly ordinary: readonly number[]
  readonly cancelled: readonly string[]
  /** How often a batch was polled. */
  readonly polls: number
  /** false: batches stay in progress. */
  isEnding: boolean
  /** false: a batch is accepted without an answer. */
  isAnswering: boolean
}

export interface Behaviour {
  /** What became of a batched request; default: it was answered. */
  readonly result?: (attempt: number) => object | null
  /** Status that the batches' own address answers with instead of taking one. */
  readonly refuses?: number
}

/** What the judge says of an attempt, different for each of ten. */
export const scoreOf = (attempt: number): number => (attempt % 10) / 10

/** A judge on loopback that sees of which attempt it is asked. */
export async function anthropic({ result, refuses }: Behaviour = {}): Promise<Anthropic> {
  const server = await openBatchServer({
    answer: (call) => answerTo(attemptOf(call)),
    ...(result !== undefined && { result: (call: SentCall) => result(attemptOf(call)) }),
    ...(refuses !== undefined && { refuses }),
  })
  return {
    env: {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-loopback',
      GANTRY_BATCH_POLL: '20ms',
    },
    get batches() {
      return server.batches.map((calls) => calls.map(attemptOf))
    },
    get ordinary() {
      return server.ordinary.map(attemptOf)
    },
    cancelled: server.cancelled,
    get polls() {
      return server.polls
    },
    get isEnding() {
      return server.isEnding
    },
    set isEnding(isEnding) {
      server.isEnding = isEnding
    },
    get isAnswering() {
      return server.isAnswering
    },
    set isAnswering(isAnswering) {
      server.isAnswering = isAnswering
    },
  }
}

function attemptOf(call: SentCall): number {
  return Number(/attempt-(\d+)/.exec(promptOf(call))?.[1])
}

function answerTo(attempt: number): string {
  return JSON.stringify({
    scores: { complete: scoreOf(attempt) },
    confidence: 0.8,
    issues: [],
    highlights: [],
  })
}
