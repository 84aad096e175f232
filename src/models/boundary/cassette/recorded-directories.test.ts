import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlaceCodec } from './recorded-directories.ts'

const codec = createPlaceCodec({
  workspace: '/r/t/ws',
  home: ['/r/t/ws/home', '/real/home'],
  tmp: '/tmp/t1/',
})

test.each([
  ['cd /r/t/ws && ls /r/t/ws/a', 'cd {workspace} && ls {workspace}/a'],
  ['the longest wins: /r/t/ws/home/.x', 'the longest wins: {home}/.x'],
  ['another spelling: /real/home', 'another spelling: {home}'],
  ['not meant: /r/t/ws2 /r/t/ws-b /r/t/ws.d', 'not meant: /r/t/ws2 /r/t/ws-b /r/t/ws.d'],
  ['It is in /r/t/ws.', 'It is in {workspace}.'],
  [
    'projects/-r-t-ws/memory and -r-t-ws-sub',
    'projects/{workspace-dashed}/memory and {workspace-dashed}-sub',
  ],
  ['-I/r/t/ws/include \\n/tmp/t1/x', '-I{workspace}/include \\n{tmp}/x'],
  ['/private/tmp/t1/x', '{tmp}/x'],
])('%s', (text, hidden) => {
  expect(codec.hide(text)).toBe(hidden)
  expect(codec.hide(hidden)).toBe(hidden)
})

test('a path that must be escaped in JSON is found there too', () => {
  const quoted = createPlaceCodec({ workspace: '/r/a "b"/ws' })
  expect(quoted.hide(JSON.stringify({ path: '/r/a "b"/ws/x' }))).toBe('{"path":"{workspace}/x"}')
})

test('stored text is restored with the paths of another trial', () => {
  const there = createPlaceCodec({ workspace: '/elsewhere/w', home: '/elsewhere/h', tmp: '/elsewhere/t' })
  const word = fc.constantFrom('{workspace}', '{~home}', '{tmp}', '{name}', 'a', ' ', '/x', '{', '}', '~')
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const text = words.join('')
      expect(codec.fill(codec.store(text))).toBe(text)
      expect(there.fill(codec.store(`${text} /r/t/ws/a`))).toBe(`${text} /elsewhere/w/a`)
    }),
  )
})

test('the placeholder of an unknown directory stays', () => {
  expect(createPlaceCodec({}).fill('{workspace}/a')).toBe('{workspace}/a')
  expect(createPlaceCodec({ home: '/' }).hide('/a')).toBe('/a')
})
