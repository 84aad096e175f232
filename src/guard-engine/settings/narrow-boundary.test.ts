import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { readSettings } from './read-settings.ts'

interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly user?: unknown
  readonly project?: unknown
  /** In gantry.yaml, which is stronger than harness.json. */
  readonly gantry?: unknown
}

async function read({ env = {}, user, project, gantry }: Given) {
  await using fixture = await createFixture({
    'project/a': '',
    ...(user !== undefined && { 'user/harness.json': JSON.stringify({ boundary: user }) }),
    ...(project !== undefined && { 'project/harness.json': JSON.stringify({ boundary: project }) }),
    ...(gantry !== undefined && { 'project/gantry.yaml': JSON.stringify({ guard: { boundary: gantry } }) }),
  })
  return await readSettings({
    root: join(fixture.path, 'project'),
    userDir: join(fixture.path, 'user'),
    env: { ...env },
  })
}

const strict = {
  HARNESS_BOUNDARY_ENABLED: 'true',
  HARNESS_BOUNDARY_PACKAGE: 'packages/one',
  HARNESS_BOUNDARY_ALSO: '/scratch',
  HARNESS_BOUNDARY_REFUSED: 'agent.yaml',
  HARNESS_BOUNDARY_GIT: 'read',
}
const loose = { enabled: false, package: '', also: [], refused: [], git: 'all' }
const asSet = {
  enabled: true,
  root: '',
  package: 'packages/one',
  also: ['/scratch'],
  refused: ['agent.yaml'],
  git: 'read',
}

describe('a file of the project', () => {
  test.each(['project', 'gantry'])('cannot loosen what the environment says: %s', async (file) => {
    expect((await read({ env: strict, [file]: loose })).settings.boundary).toEqual(asSet)
    expect((await read({ env: strict })).settings.boundary).toEqual(asSet)
  })

  test('cannot loosen what the user says', async () => {
    const user = { enabled: true, package: 'packages/one', also: ['/scratch'], git: 'read' }
    const { boundary } = (await read({ user, project: loose })).settings
    expect(boundary).toEqual({ ...asSet, refused: [] })
  })

  test('can make it narrower, key by key', async () => {
    const project = { package: 'packages/one/src', refused: ['agent.yaml', 'b'] }
    const { boundary } = (await read({ env: strict, project })).settings
    expect(boundary).toEqual({ ...asSet, package: 'packages/one/src', refused: ['agent.yaml', 'b'] })
    const git = (await read({ env: { HARNESS_BOUNDARY_GIT: 'all' }, project: { git: 'read' } })).settings
    expect(git.boundary.git).toBe('read')
  })

  test('can switch it on, also where the environment says it is off', async () => {
    const env = { HARNESS_BOUNDARY_ENABLED: 'false' }
    expect((await read({ env, project: { enabled: true } })).settings.boundary.enabled).toBe(true)
    expect((await read({ env, project: { enabled: false } })).settings.boundary.enabled).toBe(false)
    expect((await read({ env, user: { enabled: true } })).settings.boundary.enabled).toBe(false)
  })

  test.each(['packages/one', './packages//one/', 'packages', ''])(
    'that names the same package or more around it changes nothing: %s',
    async (inner) => {
      const found = await read({ env: strict, project: { package: inner } })
      expect(join('/', found.settings.boundary.package, '/')).toBe('/packages/one/')
    },
  )

  test.each(['packages/two', 'packages/one-more', 'pack'])(
    'that names a package apart is broken, and says of whom: %s',
    async (inner) => {
      expect(await read({ env: strict, project: { package: inner } })).toMatchObject({
        kind: 'broken',
        problem: `boundary.package: '${inner}' of the project is not in 'packages/one', which the person set, nor around it`,
      })
    },
  )

  test.each([
    ['also', ['/tmp']],
    ['root', '/'],
  ])('that names %s is broken, with its place', async (key, value) => {
    for (const file of ['project', 'gantry']) {
      const found = await read({ env: strict, [file]: { [key]: value } })
      expect(found.kind === 'broken' && found.problem).toMatch(
        new RegExp(`^/.*:1:\\d+: boundary\\.${key}: is the person’s to set`),
      )
    }
  })
})

test('the environment wins over the user, whose scope is the same', async () => {
  const user = {
    enabled: true,
    root: '/a',
    package: 'packages/two',
    also: ['/other'],
    refused: ['b'],
    git: 'all',
  }
  const { boundary } = (await read({ env: { ...strict, HARNESS_BOUNDARY_ROOT: '/b' }, user })).settings
  expect(boundary).toEqual({ ...asSet, root: '/b' })
})
