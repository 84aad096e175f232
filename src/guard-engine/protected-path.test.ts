import picomatch from 'picomatch'
import { expect, test } from 'vitest'
import { protectedPaths } from './protected-path.ts'

function match(patterns: readonly string[], path: string): string | null {
  return protectedPaths(patterns, '/home/dev/app', '/home/dev').patternOf(path)
}

test.each([
  ['.env', '/anywhere/.env'],
  ['.env', '/home/dev/app/sub/.ENV'],
  ['.env', '/home/dev/app/.env/'],
  ['.env.*', '/home/dev/app/.env.local'],
  ['*.key', '/home/dev/app/.key'],
  ['*.key', '/home/dev/app/Server.Key'],
  ['id_rsa*', '/home/dev/.ssh/id_rsa.pub'],
  ['{a,b}.lock', '/x/b.lock'],
  ['[abc].txt', '/x/b.txt'],
  ['config/*.json', '/home/dev/app/config/a.json'],
  ['./config/*.json', '/home/dev/app/config/a.json'],
  ['/config/a.json', '/home/dev/app/config/a.json'],
  ['**/secret.txt', '/home/dev/app/a/b/secret.txt'],
  ['**/secret.txt', '/home/dev/app/secret.txt'],
  ['/etc/passwd', '/etc/passwd'],
  ['~/.ssh/*', '/home/dev/.ssh/config'],
  ['secrets/', '/home/dev/app/a/secrets/b/c'],
  ['secrets/', '/home/dev/app/secrets'],
  ['a/secrets/', '/home/dev/app/a/secrets/b/c'],
  ['a/secrets/', '/home/dev/app/a/secrets'],
  ['[x', '/home/dev/app/[x'],
  ['a(b', '/home/dev/app/a(b'],
  ['caf\u00e9.txt', '/x/cafe\u0301.txt'],
  ['.env', 'C:\\work\\.env'],
])('the pattern %s protects %s', (pattern, path) => {
  expect(match([pattern], path)).toBe(pattern)
})

test.each([
  ['.env', '/home/dev/app/.envrc'],
  ['.env', '/home/dev/app/src/env.ts'],
  ['.env', '/home/dev/app/.env/inner'],
  ['*.key', '/home/dev/app/monkey.key.ts'],
  ['config/*.json', '/home/dev/app/sub/config/a.json'],
  ['config/*.json', '/home/dev/app/config/deep/a.json'],
  ['config/*.json', '/elsewhere/config/a.json'],
  ['/config/a.json', '/home/dev/app/sub/config/a.json'],
  ['secrets/', '/home/dev/app/secrets.txt'],
  ['a/secrets/', '/home/dev/app/b/a/secrets/c'],
  ['', '/home/dev/app/x'],
  ['/', '/home/dev/app/x'],
])('the pattern %s does not protect %s', (pattern, path) => {
  expect(match([pattern], path)).toBeNull()
})

test('the first matching pattern is returned', () => {
  expect(match(['*.txt', 'a.*'], '/x/a.txt')).toBe('*.txt')
})

test('a very long pattern is taken as a name', () => {
  const long = `${'a'.repeat(70_000)}*`
  expect(match([long], `/x/${long}`)).toBe(long)
  expect(match([long], '/x/a')).toBeNull()
})

test('a pattern with one star matches like a glob', () => {
  const parts = ['', '.', '..', 'a', '.a', 'a.', 'key', '.key', 'a.key', 'env', '-x_1', '*']
  const names = parts.flatMap((one) => parts.map((other) => `${one}${other}`)).filter((name) => name !== '')
  const patterns = names.filter((name) => name.includes('*'))
  const differing = patterns.flatMap((pattern) => {
    const glob = picomatch(pattern, { dot: true, nonegate: true })
    const itself = (name: string): boolean => name === pattern || glob(name)
    return names
      .filter((name) => (match([pattern], `/x/${name}`) !== null) !== itself(name))
      .filter((name) => name !== '.' && name !== '..')
      .map((name) => `${pattern} ${name}`)
  })
  expect(differing).toEqual([])
})
