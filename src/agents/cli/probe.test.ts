import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareVersions, judgeVersion, parseVersion } from './probe.ts'

test.each([
  ['2.1.325 (Claude Code)', '2.1.325'],
  ['codex-cli 0.166.0', '0.166.0'],
  ['v1.2.3-beta.1\n', '1.2.3-beta.1'],
  ['GitHub Copilot CLI 1.0.102.', '1.0.102'],
  ['no version here', null],
  ['1.2', null],
  ['', null],
])('%j contains the version %j', (text, version) => {
  expect(parseVersion(text)).toBe(version)
})

const version = fc
  .tuple(fc.nat(99), fc.nat(999), fc.nat(999), fc.constantFrom('', '-alpha', '-beta.2'))
  .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre}`)

test('versions have a total order, and each is found in any surrounding text', () => {
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) || 0)
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
      expect(parseVersion(`agent ${a} (build)`)).toBe(a)
    }),
  )
})

test('a pre-release is older than its release, and numbers are not compared as text', () => {
  expect(compareVersions('2.1.9', '2.1.112')).toBeLessThan(0)
  expect(compareVersions('2.0.0-rc.1', '2.0.0')).toBeLessThan(0)
  expect(compareVersions('2.0.0', '2.0.0')).toBe(0)
})

test('too old is unusable, too new is usable with a warning', () => {
  const range = { name: 'claude', supported: { from: '2.1.112', below: '3.0.0' }, install: 'npm i claude' }
  expect(judgeVersion(range, '1.0.3')).toEqual({
    usable: false,
    problem: 'claude 1.0.3 is older than 2.1.112, which this driver needs; update it with: npm i claude',
  })
  expect(judgeVersion(range, '2.1.112')).toEqual({ usable: true, problem: null })
  expect(judgeVersion(range, '3.0.0')).toMatchObject({
    usable: true,
    problem: expect.stringContaining('newer'),
  })
})
