import { APICallError } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refusedSetting } from './complete.ts'
import { failureOf } from './failure.ts'
import { isStrictSchema } from './providers.ts'
import { retryAfterMs } from './retry-after.ts'

const nowMs = Date.parse('2026-11-15T06:00:00Z')

const callError = (more: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({
    message: 'told so',
    url: 'https://api.example/v1/x?key=secret',
    requestBodyValues: {},
    ...more,
  })

const withCode = (code: string) => Object.assign(new Error(code), { code })

test.each([
  [{ 'retry-after': '30' }, 30_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '1500', 'retry-after': '30' }, 1_500],
  [{ 'retry-after': 'Sun, 15 Nov 2026 06:01:00 GMT' }, 60_000],
  [{ 'retry-after': 'Sun, 15 Nov 2026 05:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-5' }, null],
  [{}, null],
])('%j asks to wait %s ms', (responseHeaders, expected) => {
  expect(retryAfterMs({ responseHeaders }, nowMs)).toBe(expected)
})

test('Google sends the time to wait in the body', () => {
  const responseBody = '{"error":{"details":[{"@type":"…RetryInfo","retryDelay": "34.5s"}]}}'
  expect(retryAfterMs({ responseBody }, nowMs)).toBe(34_500)
})

test('any header value gives a non-negative number or nothing', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const wait = retryAfterMs({ responseHeaders: { 'retry-after': text } }, nowMs)
      expect(wait === null || (Number.isFinite(wait) && wait >= 0)).toBe(true)
    }),
  )
})

test.each([
  [{ statusCode: 429, responseBody: '{"error":{"code":"insufficient_quota"}}' }, 'auth', undefined],
  [{ statusCode: 400, message: 'Your credit balance is too low' }, 'auth', undefined],
  [{ statusCode: 400, message: 'API key not valid. Please pass a valid API key.' }, 'auth', undefined],
  [{ statusCode: 413 }, 'context', undefined],
  [{ statusCode: 408 }, 'timeout', true],
  [{ statusCode: 504 }, 'unavailable', true],
  [{ statusCode: 501 }, 'unavailable', undefined],
  [{ statusCode: 400, responseBody: '{"code":"content_policy_violation"}' }, 'refused', undefined],
  [{ statusCode: 500, responseBody: '{"type":"overloaded_error"}' }, 'overloaded', true],
  [{ cause: withCode('ENOTFOUND') }, 'unavailable', undefined],
  [{ cause: withCode('ECONNREFUSED') }, 'unavailable', undefined],
  [{ cause: withCode('EAI_AGAIN') }, 'unavailable', true],
  [
    { statusCode: 200, cause: new Error('terminated', { cause: withCode('UND_ERR_SOCKET') }) },
    'unavailable',
    true,
  ],
  [{ cause: withCode('UND_ERR_HEADERS_TIMEOUT') }, 'timeout', undefined],
  [{ cause: new AggregateError([withCode('ECONNRESET')]) }, 'unavailable', true],
] as const)('%j is %s', (more, reason, passing) => {
  const failure = failureOf(callError(more))
  expect({ reason: failure?.reason, passing: failure?.passing }).toEqual({ reason, passing })
})

test('a failure names the origin of the server and no other part of the address', () => {
  const failure = failureOf(callError({ statusCode: 404 }))
  expect(failure?.message).toBe('404 told so (https://api.example)')
})

test('errors that the provider did not cause are not failures', () => {
  expect(failureOf(new Error('ours'))).toBeNull()
  expect(failureOf('x')).toBeNull()
})

test.each([
  ['Invalid schema for response_format', 'answerSchema'],
  ['temperature is deprecated for this model', 'temperature'],
  ["Unrecognized request argument supplied: 'reasoning_effort'", 'effort'],
  ['output_config.effort: this model has none', 'effort'],
  ["Invalid schema for response_format: 'reasoning' is optional", 'answerSchema'],
  ['no such model', null],
  ['the schema makes the prompt is too long', null],
])('%j is about %s', (message, setting) => {
  const request = { answerSchema: { type: 'object' }, temperature: 0, effort: 'low' } as const
  expect(refusedSetting(callError({ statusCode: 400, message }), request)).toBe(setting)
  expect(refusedSetting(callError({ statusCode: 500, message }), request)).toBeNull()
  expect(refusedSetting(callError({ statusCode: 400, message }), { temperature: undefined })).toBeNull()
})

test('only closed objects without optional keys are strict', () => {
  const closed = (properties: object, required = Object.keys(properties)) => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  })
  expect(isStrictSchema(closed({ a: { type: 'string' }, properties: closed({}) }))).toBe(true)
  expect(isStrictSchema(closed({ a: { type: 'string' } }, []))).toBe(false)
  expect(isStrictSchema({ type: 'object', properties: {} })).toBe(false)
  expect(isStrictSchema(closed({ list: { type: 'array', items: { type: 'object' } } }))).toBe(false)
  expect(isStrictSchema({ $defs: { x: { type: 'object' } }, ...closed({}) })).toBe(false)
})
