import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openWorld } from './open-world.ts'
import { madeUpWorld, worldConformance } from './world.conformance.ts'

const made: string[] = []
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

function realDirectory(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-world-')))
  made.push(root)
  mkdirSync(join(root, 'sub'))
  writeFileSync(join(root, '.env'), 'A=1')
  writeFileSync(join(root, 'sub/inner.txt'), 'inner')
  linkSync(join(root, '.env'), join(root, 'second'))
  symlinkSync('.env', join(root, 'link'))
  symlinkSync('sub', join(root, 'linked'))
  symlinkSync('sub/.env.local', join(root, 'dangling'))
  symlinkSync('circle', join(root, 'circle'))
  return root
}

describe('the real world', () => {
  worldConformance(async () => {
    const root = realDirectory()
    return { root, world: openWorld({ root, home: '/nowhere', env: {}, own: [] }) }
  })

  test('returns the values it was opened with', () => {
    const world = openWorld({ root: '/', home: '/h', env: { A: 'b' }, own: ['/own'] })
    expect(world).toMatchObject({ home: '/h', env: { A: 'b' }, own: ['/own'] })
  })
})

describe('a made-up world', () => {
  worldConformance(async () => {
    const root = '/home/dev/app'
    const files = {
      '.env': { id: 'one' },
      second: { id: 'one' },
      'sub/inner.txt': { text: 'inner' },
      link: { link: '.env' },
      linked: { link: 'sub' },
      dangling: { link: 'sub/.env.local' },
      circle: { link: 'circle' },
    }
    return { root, world: madeUpWorld({ root, files }) }
  })
})
