import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packValue, unpackValue } from './pack-value.ts'
import { type EarlierRequest, joinRequest, shareRequest } from './share-request.ts'

const json = fc.jsonValue({ maxDepth: 3 })

test('every packed value unpacks to the same value', () => {
  const long = fc.string({ minLength: 1_000, maxLength: 1_100, unit: 'grapheme' })
  const nested = json.map((value) => JSON.stringify(value))
  const spaced = fc.constantFrom('{"a": 1, "b": [1, "x, y: z"]}', '{ "a":1}', '[1,2', '{"a":1.0}')
  const marks = fc.dictionary(fc.constantFrom('$blob', '$json', '$literal', 'spaced', 'a'), json)
  const value = fc.array(fc.oneof(json, long, nested, spaced, marks))
  fc.assert(
    fc.property(value, fc.boolean(), (original, opens) => {
      const blobs = new Map<string, string>()
      const put = (text: string) => {
        blobs.set(String(blobs.size), text)
        return String(blobs.size - 1)
      }
      const openJson = () => opens
      const packed: unknown = JSON.parse(JSON.stringify(packValue(original, { blobs: { put }, openJson })))
      const unpacked = unpackValue(packed, { getBlob: (name) => blobs.get(name) ?? 'lost' })
      expect(JSON.stringify(unpacked)).toBe(JSON.stringify(original))
    }),
  )
})

test('every shared request joins to the same request, and a longer conversation shares the shorter one', () => {
  const message = fc.record({
    content: fc.string({ maxLength: 300 }),
    role: fc.constantFrom('user', 'assistant'),
  })
  const body = fc.record(
    { a: json, messages: fc.array(message, { maxLength: 8 }), tools: fc.array(json, { maxLength: 3 }) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 6 }), (bodies) => {
      const earlier: EarlierRequest[] = []
      for (const [at, one] of bodies.entries()) {
        const request = { method: 'POST', path: '/v1/messages', body: JSON.parse(JSON.stringify(one)) }
        const stored = JSON.parse(JSON.stringify(shareRequest(request, earlier)))
        const joined = joinRequest(stored, (index) => earlier.find((e) => e.index === index)?.request)
        expect(joined).toEqual(request)
        earlier.push({ index: at + 1, request })
      }
    }),
  )
})

test('a request cannot be joined when the one it continues is missing or too short', () => {
  const stored = { method: 'POST', path: '/', continues: 1, kept: { messages: 2 }, body: { messages: [] } }
  expect(joinRequest(stored, () => undefined)).toBeNull()
  expect(joinRequest(stored, () => ({ method: 'POST', path: '/', body: { messages: [1] } }))).toBeNull()
})
