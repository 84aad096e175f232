import { describe, expect, test } from 'vitest'
import {
  writeLimitsCorpus as corpus,
  off,
  on,
  sceneWith,
  type WriteLimitsCase,
} from '../guard-engine/write-limits-corpus.conformance.ts'
import type { World } from '../shell/world.ts'
import { confineWrites } from './confine-writes.ts'
import type { Scene } from './contract.ts'

function reasonFor(each: Omit<WriteLimitsCase, 'name' | 'verdict'>): string | null {
  return confineWrites.judge(sceneWith(each, on))?.deny ?? null
}

describe('the corpus', () => {
  test('has many cases of both kinds with unique names', () => {
    expect(corpus.filter(({ verdict }) => verdict === 'deny').length).toBeGreaterThanOrEqual(150)
    expect(corpus.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThanOrEqual(70)
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
  })

  test('writes outside are denied with a reason that every agent accepts', () => {
    const outward = corpus.filter(({ verdict }) => verdict === 'deny')
    const reasons = outward.map((each) => ({ name: each.name, length: reasonFor(each)?.length ?? null }))
    expect(reasons.filter(({ length }) => length === null).map(({ name }) => name)).toEqual([])
    expect(reasons.filter(({ length }) => (length ?? 0) >= 1000).map(({ name }) => name)).toEqual([])
  })

  test('writes inside pass', () => {
    const inward = corpus.filter(({ verdict }) => verdict === 'pass')
    const refused = inward.map((each) => ({ name: each.name, reason: reasonFor(each) }))
    expect(refused.filter(({ reason }) => reason !== null)).toEqual([])
  })

  test('the rule denies nothing when it is off', () => {
    const denied = corpus.filter((each) => {
      const scene = sceneWith(each, off)
      const boundary = { ...scene.settings.boundary, enabled: false }
      return confineWrites.judge({ ...scene, settings: { ...scene.settings, boundary } }) !== null
    })
    expect(denied).toEqual([])
  })
})

test('when it is off, it reads neither the call nor the disk', () => {
  const untouchable = new Proxy({} as never, {
    get: (_, key) => {
      throw new Error(`looked at ${String(key)}`)
    },
  })
  const scene = sceneWith({ command: 'touch /opt/x' }, off)
  const event = { ...scene.event, call: untouchable } as Scene['event']
  const world: World = untouchable
  expect(confineWrites.judge({ ...scene, event, world })).toBeNull()
  const boundary = { ...on }
  expect(() =>
    confineWrites.judge({ ...scene, event, world, settings: { ...scene.settings, boundary } }),
  ).toThrow('looked at')
})

describe('the reason', () => {
  test('names the path as written, why it is outside, where writing is allowed, and who decides', () => {
    const reason = reasonFor({
      command: 'cd src && echo x > "../../x"',
      boundary: { also: ['/tmp/scratch'] },
    })
    expect(reason).toContain(
      '`"../../x"` must not be written: it is outside the project; besides the project only /tmp/scratch may be written.',
    )
    expect(reason).toContain('The user sets the limits in harness.json under boundary')
  })

  test('names the package, the refused paths and the git command', () => {
    expect(reasonFor({ command: 'touch a', boundary: { package: 'packages/one' } })).toContain(
      'the work is confined to packages/one',
    )
    expect(reasonFor({ command: 'rm .github/x', boundary: { refused: ['.github'] } })).toContain(
      'the settings say that .github must not change',
    )
    expect(reasonFor({ command: 'git -C src commit', boundary: { git: 'read' } })).toContain('`git commit`')
  })

  test('stays short for a long name and shows no control characters', () => {
    const reason = reasonFor({ command: `echo x > '/opt/${'\u0007'.repeat(3000)}'` })
    expect(reason?.length).toBeLessThan(1000)
    expect(reason).not.toContain('\u0007')
  })
})
