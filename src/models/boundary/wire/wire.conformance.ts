import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TokenUsage } from '../../../core/trial.ts'
import type { ModelCall, Turn } from '../contract.ts'
import type { EncodedReply, ReplyReading, SseEvent, WireFormat, WireRoute } from './contract.ts'
import { createSseReader, encodeSse } from './sse.ts'
import { anyTurn, deep, everything, twisted } from './wire-samples.conformance.ts'

/** The facts about a format that the shared suite needs. */
export interface WireSubject {
  readonly format: WireFormat
  /** A request of a client of this API: one user message, the tools by name. */
  request(wanted: WantedRequest): { readonly path: string; readonly body: unknown }
  /** The usage kinds that have their own field. Cache writes without a field are reported as input. */
  readonly reports: { readonly cacheWrite: boolean; readonly thinkingTokens: boolean }
  /** The input of a free-form tool is read back unchanged, or as the field `input`. */
  readonly freeForm: 'kept' | 'wrapped'
}

export interface WantedRequest {
  readonly model: string
  readonly stream: boolean
  readonly text: string
  readonly tools: readonly string[]
}

/** The suite that every API format must pass. */
export function describeWireFormat(name: string, subject: WireSubject): void {
  const { format } = subject
  const facts = { id: '0123abcd', created: 1_750_000_000 }

  describe(`${name}: a wire format`, () => {
    test.each([true, false])('reads a request (streamed: %s)', (stream) => {
      const { call } = callOf(subject, { model: 'm-1', stream, text: 'Grüße 😀', tools: ['shell', 'read'] })
      expect(call).toMatchObject({
        api: format.api,
        kind: 'turn',
        model: 'm-1',
        stream,
        tools: ['shell', 'read'],
      })
      expect(call.messages.at(-1)).toEqual({ role: 'user', text: 'Grüße 😀', toolCalls: [], toolResults: [] })
    })

    test('recognises a call without tools, and a compaction', () => {
      const wanted = { model: 'm', stream: true, text: 'Name this.', tools: [] }
      expect(callOf(subject, wanted).call.kind).toBe('side')
      const compaction = 'Your task is to create a detailed summary of the conversation so far'
      expect(callOf(subject, { ...wanted, tools: ['shell'], text: compaction }).call.kind).toBe('compaction')
    })

    test('ignores requests of other kinds', () => {
      const { path } = callOf(subject, plainRequest(true))
      for (const other of [path.slice(0, -1), `${path}/x`, '/', '', '/v1/nothing', '/hook/Stop'])
        expect(format.route('POST', other)).toBeNull()
      expect(format.route('DELETE', path)).toBeNull()
    })

    test('reads its own answers, streamed or not, however their bytes are split', () => {
      fc.assert(
        fc.property(anyTurn(), fc.boolean(), anyCuts, (turn, stream, cuts) => {
          const { call } = callOf(subject, plainRequest(stream))
          const reply = format.encode(turn, call, facts)
          expect(reply.status).toBe(200)
          expect(readCut(format, reply, cuts)).toEqual(expected(turn, call, subject))
        }),
        { numRuns: 120 },
      )
    })

    test('writes the same bytes for the same turn', () => {
      fc.assert(
        fc.property(anyTurn(), fc.boolean(), (turn, stream) => {
          const { call } = callOf(subject, plainRequest(stream))
          expect(format.encode(turn, call, facts)).toEqual(format.encode(turn, call, facts))
        }),
        { numRuns: 20 },
      )
    })

    test('sends a long text in several pieces, and limits their number', () => {
      const { call } = callOf(subject, plainRequest(true))
      const chunks = (length: number): number =>
        format.encode(saying('word '.repeat(length)), call, facts).chunks.length
      expect(chunks(200)).toBeGreaterThan(5)
      expect(chunks(200_000)).toBeLessThan(200)
    })

    test('sends every event of a stream as a separate chunk', () => {
      const { call } = callOf(subject, plainRequest(true))
      const { chunks } = format.encode(saying('word '.repeat(100)), call, facts)
      for (const chunk of chunks) expect(eventsOf(chunk)).toHaveLength(1)
    })

    test('carries a megabyte of text, thinking and arguments', () => {
      const big = 'päth/😀\n"\\'.repeat(30_000)
      const turn: Turn = {
        blocks: [
          { kind: 'thinking', text: big },
          { kind: 'text', text: big },
          { kind: 'tool_call', id: 'call_1', name: 'write', input: { content: big } },
        ],
        stop: 'tools',
        usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
      }
      for (const stream of [true, false]) {
        const { call } = callOf(subject, plainRequest(stream))
        const cuts = Array.from({ length: 100 }, (_, index) => index * 9_973)
        expect(readCut(format, format.encode(turn, call, facts), cuts)).toEqual(expected(turn, call, subject))
      }
    })

    test('an empty turn is a valid answer', () => {
      const turn: Turn = {
        blocks: [],
        stop: 'end',
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      }
      for (const stream of [true, false]) {
        const { call } = callOf(subject, plainRequest(stream))
        expect(readCut(format, format.encode(turn, call, facts), [])).toEqual(expected(turn, call, subject))
      }
    })

    test('an answer that was cut anywhere is incomplete, and its reading is the beginning of the full one', () => {
      fc.assert(
        fc.property(
          anyTurn(),
          fc.boolean(),
          fc.double({ min: 0, max: 1, noNaN: true }),
          (turn, stream, share) => {
            const { call } = callOf(subject, plainRequest(stream))
            const reply = format.encode(turn, call, facts)
            const bytes = bytesOf(reply)
            const reader = format.createReader(contentTypeOf(reply))
            reader.push(bytes.subarray(0, Math.floor(share * (bytes.length - 1))))
            const reading = reader.end()
            const whole = expected(turn, call, subject)
            expect(reading.complete).toBe(false)
            expect(whole.text.startsWith(reading.text)).toBe(true)
            expect(whole.thinking.startsWith(reading.thinking)).toBe(true)
            expect(reading.toolCalls.length).toBeLessThanOrEqual(whole.toolCalls.length)
          },
        ),
        { numRuns: 80 },
      )
    })

    test('joined deltas have the same reading, and joining again changes nothing', () => {
      fc.assert(
        fc.property(anyTurn(), (turn) => {
          const { call } = callOf(subject, plainRequest(true))
          const reply = format.encode(turn, call, facts)
          const events = eventsOf(reply.chunks.join(''))
          const merged = format.mergeDeltas(events)
          const chunks = merged.map(encodeSse)
          expect(readCut(format, { ...reply, chunks }, [])).toEqual(expected(turn, call, subject))
          expect(format.mergeDeltas(merged)).toEqual(merged)
          expect(merged.length).toBeLessThanOrEqual(events.length)
        }),
        { numRuns: 60 },
      )
    })

    test('after joining, a text, thinking and arguments are each in one piece', () => {
      const long = (word: string): string => `/${word}`.repeat(700)
      const turn: Turn = {
        blocks: [
          { kind: 'thinking', text: long('thought') },
          { kind: 'text', text: long('text') },
          { kind: 'tool_call', id: 'call_1', name: 'read', input: { path: long('argument') } },
        ],
        stop: 'tools',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
      }
      const { call } = callOf(subject, plainRequest(true))
      const events = eventsOf(format.encode(turn, call, facts).chunks.join(''))
      const merged = format.mergeDeltas(events)
      for (const word of ['thought', 'text', 'argument'])
        expect(merged.some(({ data }) => data.includes(long(word)))).toBe(true)
      expect(merged.length).toBeLessThan(events.length)
    })

    test('joining leaves unknown events alone', () => {
      const event: fc.Arbitrary<SseEvent> = fc.record(
        { event: fc.string(), data: fc.oneof(fc.string(), fc.json(), fc.constant('[DONE]')) },
        { requiredKeys: ['data'] },
      )
      fc.assert(
        fc.property(fc.array(event, { maxLength: 6 }), (events) => {
          expect(format.mergeDeltas(events)).toEqual(events)
        }),
        { numRuns: 60 },
      )
    })

    test('no request makes it throw', () => {
      const { path, body } = subject.request({ model: 'm', stream: true, text: 'x', tools: ['a'] })
      const routes = [routeOf(format, path), { kind: 'count_tokens' }, { kind: 'list_models' }] as const
      const anyBody = fc.oneof(
        fc.jsonValue(),
        twisted(fc.constant(JSON.stringify(body))).map((text) => JSON.parse(text)),
      )
      fc.assert(
        fc.property(anyBody, fc.constantFrom(...routes), (value, route) => {
          expect(format.readCall(value, route).api).toBe(format.api)
        }),
        { numRuns: 300 },
      )
      expect(format.readCall(deep(), routes[0]).api).toBe(format.api)
      for (const key of Object.keys(Object(body)))
        expect(format.readCall({ ...Object(body), [key]: deep() }, routes[0]).api).toBe(format.api)
    })

    test('no method and no path make it throw', () => {
      fc.assert(
        fc.property(fc.constantFrom('GET', 'POST', 'HEAD', ''), fc.string(), (method, path) => {
          format.route(method, path)
        }),
      )
      for (const path of ['/v1beta/models/%E0%A4%A:generateContent', '/%', '//v1//messages', '/models/'])
        for (const method of ['GET', 'POST']) format.route(method, path)
    })

    test('no answer makes its reader throw', () => {
      const streamed = eventsOf(
        format.encode(everything, callOf(subject, plainRequest(true)).call, facts).chunks.join(''),
      )
      const whole = format
        .encode(everything, callOf(subject, plainRequest(false)).call, facts)
        .chunks.join('')
      const datas = streamed.map(({ data }) => data).filter((data) => data.startsWith('{'))
      const stream = fc
        .array(fc.oneof(twisted(fc.constantFrom(...datas)), fc.constantFrom(...datas), fc.json()), {
          maxLength: 12,
        })
        .map((lines) => lines.map((data) => encodeSse({ data })).join(''))
      const body = fc.oneof(stream, twisted(fc.constant(whole)), fc.json(), fc.string())
      const contentType = fc.constantFrom('text/event-stream', 'application/json', 'text/html', '')
      fc.assert(
        fc.property(fc.oneof(body, fc.uint8Array()), contentType, (sent, type) => {
          const reader = format.createReader(type)
          reader.push(sent)
          const { tokens } = reader.end()
          for (const count of Object.values(tokens ?? {})) expect(count).toBeGreaterThanOrEqual(0)
          if (typeof sent === 'string') format.mergeDeltas(eventsOf(sent))
        }),
        { numRuns: 400 },
      )
    })

    test.each([400, 401, 403, 404, 429, 500, 503, 529])(
      'encodes a failure with status %i as its provider does',
      (status) => {
        const reply = format.encodeFailure({ status, message: `Not now: "${status}" 😀`, retryAfterSecs: 7 })
        expect(reply.status).toBe(status)
        expect(reply.headers['retry-after']).toBe('7')
        expect(reply.headers['content-type']).toMatch(/^application\/json/)
        expect(JSON.parse(reply.chunks.join(''))).toMatchObject({
          error: { message: `Not now: "${status}" 😀` },
        })
        const { error, text, tokens } = readCut(format, reply, [3])
        expect(error).toEqual({ type: expect.stringMatching(/./), message: `Not now: "${status}" 😀` })
        expect({ text, tokens }).toEqual({ text: '', tokens: null })
      },
    )

    test("keeps the provider's error type, and sends retry-after only when given", () => {
      const reply = format.encodeFailure({ status: 418, message: 'no', type: 'own_word' })
      expect(readCut(format, reply, []).error).toEqual({ type: 'own_word', message: 'no' })
      expect(reply.headers).not.toHaveProperty('retry-after')
      expect(readCut(format, format.encodeFailure({ status: 599, message: 'no' }), []).error?.message).toBe(
        'no',
      )
    })

    test('counts and lists are JSON documents', () => {
      const count = format.encodeCount(1_234)
      expect(JSON.stringify(JSON.parse(count.chunks.join('')))).toContain('1234')
      const models = format.encodeModels(['model-a', 'model-b'])
      const listed = JSON.stringify(JSON.parse(models.chunks.join('')))
      expect(listed).toContain('model-a')
      expect(listed).toContain('model-b')
      for (const { status, headers } of [count, models, format.encodeModels([])]) {
        expect(status).toBe(200)
        expect(headers['content-type']).toMatch(/^application\/json/)
      }
    })
  })
}

function callOf(
  subject: WireSubject,
  wanted: WantedRequest,
): { readonly path: string; readonly call: ModelCall } {
  const { path, body } = subject.request(wanted)
  return { path, call: subject.format.readCall(body, routeOf(subject.format, path)) }
}

function routeOf(format: WireFormat, path: string): WireRoute {
  const route = format.route('POST', path)
  if (route === null) throw new Error(`${format.api} does not know ${path}`)
  return route
}

function plainRequest(stream: boolean): WantedRequest {
  return { model: 'model-1', stream, text: 'Go.', tools: ['shell'] }
}

function saying(text: string): Turn {
  return {
    blocks: [{ kind: 'text', text }],
    stop: 'end',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  }
}

const anyCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 })

function expected(turn: Turn, call: ModelCall, { reports, freeForm }: WireSubject): ReplyReading {
  const texts = (kind: 'text' | 'thinking'): string =>
    turn.blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join('')
  return {
    model: turn.model ?? call.model,
    tokens: reportedUsage(turn.usage, reports),
    text: texts('text'),
    thinking: texts('thinking'),
    toolCalls: turn.blocks.flatMap((block) => {
      if (block.kind !== 'tool_call') return []
      const { id, name, input } = block
      return [{ id, name, input: typeof input === 'string' && freeForm === 'wrapped' ? { input } : input }]
    }),
    complete: true,
    error: null,
  }
}

function reportedUsage(usage: TokenUsage, reports: WireSubject['reports']): TokenUsage {
  const { thinking, ...counts } = usage
  const reported = reports.cacheWrite
    ? counts
    : { ...counts, input: counts.input + counts.cacheWrite, cacheWrite: 0 }
  // Without thinking, an API may report zero or nothing.
  return {
    ...reported,
    ...(reports.thinkingTokens && thinking !== undefined && thinking > 0 && { thinking }),
  }
}

/** Cuts are fractions of the whole, or offsets in it. */
function readCut(format: WireFormat, reply: EncodedReply, cuts: readonly number[]): ReplyReading {
  const bytes = bytesOf(reply)
  const places = cuts.map((cut) =>
    Math.min(bytes.length, cut < 1 ? Math.floor(cut * bytes.length) : Math.floor(cut)),
  )
  const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length]
  const reader = format.createReader(contentTypeOf(reply))
  for (const [index, edge] of edges.entries()) reader.push(bytes.subarray(edge, edges[index + 1] ?? edge))
  const reading = reader.end()
  if (reading.tokens === null || reading.tokens.thinking !== 0) return reading
  const { thinking: _, ...tokens } = reading.tokens
  return { ...reading, tokens }
}

function bytesOf(reply: EncodedReply): Uint8Array {
  return new TextEncoder().encode(reply.chunks.join(''))
}

function contentTypeOf({ headers }: EncodedReply): string {
  return headers['content-type'] ?? ''
}

function eventsOf(text: string): SseEvent[] {
  const events: SseEvent[] = []
  const reader = createSseReader((event) => events.push(event))
  reader.push(text)
  reader.end()
  return events
}
