import fc from 'fast-check'
import { expect, test } from 'vitest'
import { authorise } from './authorise.ts'

const find = (token: string) => (token === 'right' ? 'session' : null)

test.each([
  ['the first segment of the path', '/right/v1/messages', {}, '/v1/messages'],
  ['the path, before a query', '/right/v1/messages?beta=true', {}, '/v1/messages?beta=true'],
  ['the path alone', '/right', {}, '/'],
  ['x-api-key', '/v1/messages', { 'x-api-key': 'right' }, '/v1/messages'],
  ['a bearer', '/v1/responses', { authorization: 'Bearer right' }, '/v1/responses'],
  ['a bearer in lower case', '/v1/responses', { authorization: 'bearer right' }, '/v1/responses'],
  ['x-goog-api-key', '/v1beta/models', { 'x-goog-api-key': 'right' }, '/v1beta/models'],
  ['the query', '/v1beta/models?key=right', {}, '/v1beta/models'],
  ['the query among others', '/v1beta/m?alt=sse&key=right', {}, '/v1beta/m?alt=sse'],
])('accepts the token in %s, and removes it', (_, path, headers, rest) => {
  expect(authorise({ path, headers }, find)).toEqual({
    session: 'session',
    request: { path: rest, headers: {} },
  })
})

test('a token that occurs in several places is removed from all of them', () => {
  const headers = { 'x-api-key': 'right', authorization: 'Bearer right', accept: '*/*' }
  expect(authorise({ path: '/right/v1/messages?key=right&x=1', headers }, find)?.request).toEqual({
    path: '/v1/messages?x=1',
    headers: { accept: '*/*' },
  })
})

test("the agent's own key next to the token stays", () => {
  const headers = { authorization: 'Bearer login', 'x-api-key': 'right' }
  expect(authorise({ path: '/right/v1/messages', headers }, find)?.request.headers).toEqual({
    authorization: 'Bearer login',
  })
})

test.each([
  ['nothing', '/v1/messages', {}],
  ['a wrong token in the path', '/wrong/v1/messages', {}],
  ['a wrong key', '/v1/messages', { 'x-api-key': 'wrong' }],
  ['half a token', '/righ/v1/messages', { 'x-api-key': 'righ' }],
  ['the token further down the path', '/v1/right/messages', {}],
  ['an empty key', '/v1/messages?key=', { 'x-api-key': '', authorization: 'Bearer ' }],
])('rejects a request with %s', (_, path, headers) => {
  expect(authorise({ path, headers }, find)).toBeNull()
})

test('no path and no header makes it throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (path, headers) => {
      expect(authorise({ path, headers }, () => null)).toBeNull()
    }),
  )
})
