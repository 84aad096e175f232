import { describe, expect, test } from 'vitest'
import { routeCall, wireFormats } from './index.ts'

describe('the wire formats', () => {
  test('are one for each API', () => {
    expect(wireFormats.map(({ api }) => api).toSorted()).toEqual([
      'anthropic',
      'gemini',
      'openai-chat',
      'openai-responses',
    ])
  })

  test.each([
    ['/v1/messages', 'anthropic'],
    ['/v1/messages/count_tokens', 'anthropic'],
    ['/v1/chat/completions', 'openai-chat'],
    ['/v1/responses', 'openai-responses'],
    ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', 'gemini'],
    ['/v1/models/gemini-2.5-flash:countTokens', 'gemini'],
  ])('POST %s is %s', (path, api) => {
    expect(routeCall('POST', path)?.format.api).toBe(api)
  })

  test('a request of an unknown API has no format', () => {
    for (const path of ['/', '', '/npm/left-pad', '/v1/embeddings', '/v1/messages/batches'])
      expect(routeCall('POST', path)).toBeNull()
    expect(routeCall('DELETE', '/v1/messages')).toBeNull()
  })

  test('the client headers decide whose models are listed when the path does not', () => {
    const listed = (headers: Record<string, string>) => routeCall('GET', '/v1/models', headers)
    expect(listed({})?.route).toEqual({ kind: 'list_models' })
    expect(listed({ authorization: 'Bearer x' })?.format.api).toMatch(/^openai/)
    expect(listed({ 'anthropic-version': '2023-06-01' })?.format.api).toBe('anthropic')
    expect(listed({ 'x-goog-api-key': 'x' })?.format.api).toBe('gemini')
    expect(routeCall('POST', '/v1/responses', { 'anthropic-version': 'x' })?.format.api).toBe(
      'openai-responses',
    )
  })
})
