import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { type ReadSettings, readSettings } from './read-settings.ts'
import { settingPlaces } from './setting-files.ts'
import { type Setting, settingTable } from './setting-table.ts'
import { defaultSettings, settingsOf } from './settings.ts'

async function read(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<ReadSettings & { readonly root: string }> {
  await using fixture = await createFixture(files)
  const root = join(fixture.path, 'project')
  return { ...(await readSettings({ root, env: { ...env } })), root }
}

function harness(value: unknown): Record<string, string> {
  return { 'project/harness.json': JSON.stringify(value, null, 2) }
}

/** A value of the right kind that is not the default. */
function otherValue({ kind, initial, choices = [], pattern = '' }: Setting): unknown {
  switch (kind) {
    case 'flag':
      return !initial
    case 'whole':
    case 'amount':
      return Number(initial) + 4
    case 'text':
      return ['1.2.0', 'other', '/other'].find((text) => new RegExp(pattern).test(text))
    case 'texts':
      return new RegExp(pattern).test('only this') ? ['only this'] : ['/only/this']
    case 'choice':
      return choices.at(-1)
  }
}

function nested(path: string, value: unknown): unknown {
  return path.split('.').reduceRight((inner, key) => ({ [key]: inner }), value)
}

const settings: (readonly [string, Setting])[] = Object.entries(settingTable)
const hasOthers = settings.filter(([, { choices = [] }]) => choices.length !== 1)
const persons = ['boundary.root', 'boundary.also']
const changeable = hasOthers.filter(([path]) => !persons.includes(path))
const overridable = settings.filter(([, { variable }]) => variable !== undefined)

describe('the settings', () => {
  test('are the documented defaults when nothing is set', async () => {
    const found = await read({ 'project/a': '' })
    expect(found).toMatchObject({ kind: 'read', settings: defaultSettings })
    expect(defaultSettings).toMatchObject({
      contextInjection: { enabled: true, maxTreeDepth: 3, timeBudgetSeconds: 0 },
      loopDetection: { enabled: true, editThreshold: 5, resetOnNewTask: true, repeatThreshold: 3 },
      checklist: {
        enabled: true,
        maxRefusals: 2,
        tdd: 'off',
        verify: 'when_unclear',
        verificationTimeoutSeconds: 300,
      },
      fileProtection: {
        enabled: true,
        protectedPatterns: [
          '.env',
          '.env.*',
          '*.pem',
          '*.key',
          'credentials.*',
          'id_rsa*',
          'id_ed25519*',
          '.netrc',
        ],
      },
      traceLogging: { enabled: true, maxLogSizeMb: 10 },
      state: { format: 'json', dir: '.harness' },
    })
  })

  test.each(changeable)('take %s from harness.json, and it has an effect', async (path, setting) => {
    const found = await read(harness(nested(path, otherValue(setting))))
    expect(found.kind).toBe('read')
    expect(found.settings).not.toEqual(defaultSettings)
    expect(found.settings).toEqual(settingsOf({ [path]: otherValue(setting) }))
  })

  test.each(changeable)('take %s from the guard key of gantry.yaml', async (path, setting) => {
    const yaml = JSON.stringify({ guard: nested(path, otherValue(setting)) })
    const found = await read({ 'project/gantry.yaml': yaml })
    expect(found.settings).toEqual(settingsOf({ [path]: otherValue(setting) }))
  })

  test.each(overridable)('prefer the environment over the file for %s', async (path, setting) => {
    const value = otherValue(setting)
    const text = Array.isArray(value) ? JSON.stringify(value) : String(value)
    const found = await read(harness(nested(path, setting.initial)), { [setting.variable ?? '']: text })
    expect(found.settings).toEqual(settingsOf({ [path]: value }))
  })

  test('accept false as a value', async () => {
    const off = { enabled: false }
    const found = await read(
      harness({
        middleware: {
          context_injection: off,
          loop_detection: off,
          pre_completion_checklist: off,
          file_protection: off,
          trace_logging: off,
        },
      }),
    )
    expect(found.settings.contextInjection.enabled).toBe(false)
    expect(found.settings.loopDetection.enabled).toBe(false)
    expect(found.settings.checklist.enabled).toBe(false)
    expect(found.settings.fileProtection.enabled).toBe(false)
    expect(found.settings.traceLogging.enabled).toBe(false)
  })

  test('of a plugin apply to all projects, and those of a project win key by key', async () => {
    await using fixture = await createFixture({
      'plugin/harness/harness.json': JSON.stringify({
        middleware: { loop_detection: { edit_threshold: 9, repeat_threshold: 7 } },
      }),
      'user/harness.json': JSON.stringify({ middleware: { loop_detection: { repeat_threshold: 8 } } }),
      'project/harness/harness.json': JSON.stringify({
        middleware: { loop_detection: { edit_threshold: 6 } },
      }),
      'gantry.yaml': 'guard:\n  state: { dir: .views }\n',
    })
    const at = (path: string): string => join(fixture.path, path)
    const env = { CLAUDE_PLUGIN_ROOT: at('plugin') }
    const found = await readSettings({ root: at('project'), env, userDir: at('user') })
    expect(found.settings.loopDetection).toMatchObject({ editThreshold: 6, repeatThreshold: 8 })
    expect(found.settings.state.dir).toBe('.views')
  })

  test.each([
    ['/tmp/views', /harness\.json:1:17: state\.dir: must be relative/],
    ['../views', /harness\.json:1:17: state\.dir: must not lead out of the project/],
    ['.', /harness\.json:1:17: state\.dir: must be a directory in the project/],
    ['.git/hooks', /harness\.json:1:17: state\.dir: must not belong to git/],
  ])('never take %s as the state directory from a project file', async (dir, problem) => {
    const text = JSON.stringify({ state: { dir } })
    const [plugin, project, yaml] = ['plugin/harness/harness.json', 'project/harness.json', 'gantry.yaml']
    for (const file of [plugin, project, 'project/harness/harness.json']) {
      await using fixture = await createFixture({ [file ?? '']: text, 'project/a': '' })
      const env = { CLAUDE_PLUGIN_ROOT: join(fixture.path, 'plugin') }
      const found = await readSettings({ root: join(fixture.path, 'project'), env })
      expect(found.kind === 'broken' && found.problem, file).toMatch(problem)
      expect(found.settings, file).toEqual(defaultSettings)
    }
    const found = await read({ [`project/${yaml}`]: JSON.stringify({ guard: { state: { dir } } }) })
    expect(found.kind === 'broken' && found.problem).toMatch(/gantry\.yaml:1:\d+: state\.dir: must /)
  })

  test('accept a state directory outside the project from the user and from the environment', async () => {
    await using fixture = await createFixture({
      'user/harness.json': JSON.stringify({ state: { dir: '/views/of/the/user' } }),
      'project/a': '',
    })
    const place = { root: join(fixture.path, 'project'), userDir: join(fixture.path, 'user') }
    const dirIn = async (env: Record<string, string>) =>
      (await readSettings({ ...place, env })).settings.state.dir
    expect(await dirIn({})).toBe('/views/of/the/user')
    expect(await dirIn({ HARNESS_STATE_DIR: '/views/of/today' })).toBe('/views/of/today')
  })

  test.each(hasOthers)('take %s from the user', async (path, setting) => {
    await using fixture = await createFixture({
      'user/harness.json': JSON.stringify(nested(path, otherValue(setting))),
    })
    const place = { root: join(fixture.path, 'project'), userDir: join(fixture.path, 'user'), env: {} }
    expect((await readSettings(place)).settings).toEqual(settingsOf({ [path]: otherValue(setting) }))
  })

  test('accept a list with its separator, or as JSON if a name contains the separator', async () => {
    const listsIn = async (env: Record<string, string>) => {
      const { also, refused } = (await read({ 'project/a': '' }, env)).settings.boundary
      return { also, refused }
    }
    const names = { HARNESS_BOUNDARY_ALSO: '/a:/b c', HARNESS_BOUNDARY_REFUSED: 'agent.yaml, .git,[id].ts,' }
    expect(await listsIn(names)).toEqual({
      also: ['/a', '/b c'],
      refused: ['agent.yaml', '.git', '[id].ts'],
    })
    const json = { HARNESS_BOUNDARY_ALSO: '["/a:b"]', HARNESS_BOUNDARY_REFUSED: '["a,b"]' }
    expect(await listsIn(json)).toEqual({ also: ['/a:b'], refused: ['a,b'] })
  })

  test.each(['true', 'TRUE', '1'])('read %s in the environment as true', async (text) => {
    const files = harness({ middleware: { trace_logging: { enabled: false } } })
    expect((await read(files, { HARNESS_TRACE_ENABLED: text })).settings.traceLogging.enabled).toBe(true)
  })

  test('ignore an empty variable', async () => {
    expect((await read({ 'project/a': '' }, { HARNESS_LOOP_THRESHOLD: '' })).kind).toBe('read')
  })
})

describe('invalid settings', () => {
  const cases: Record<string, [files: Record<string, string>, problem: RegExp]> = {
    'an unknown key': [
      { 'project/harness.json': '{\n  "midleware": {}\n}' },
      /harness\.json:2:3: unknown key 'midleware', did you mean 'middleware'\?$/,
    ],
    'an unknown key further down': [
      { 'project/harness.json': '{ "middleware": {\n\t"loop_detection": { "edit_treshold": 2 } } }' },
      /harness\.json:2:22: unknown key 'edit_treshold', did you mean 'edit_threshold'\?$/,
    ],
    'a key in the wrong group': [
      harness({ edit_threshold: 2 }),
      /:2:3: unknown key 'edit_threshold' here, did you mean 'middleware\.loop_detection\.edit_threshold'\?$/,
    ],
    'a dotted key': [harness({ 'state.dir': 'x' }), /unknown key 'state\.dir'/],
    'the name of a method': [harness({ constructor: 1 }), /unknown key 'constructor' \(known here: version,/],
    'a prototype': [{ 'project/harness.json': '{"__proto__": {"version": "1"}}' }, /unknown key '__proto__'/],
    'a key that stands twice': [
      { 'project/harness.json': '{"state": {"dir": "a"},\n "state": {"dir": "b"}}' },
      /harness\.json:2:2: duplicate key 'state'$/m,
    ],
    'a string for a flag': [
      harness({ middleware: { loop_detection: { enabled: 'false' } } }),
      /:4:18: middleware\.loop_detection\.enabled: expected true or false, received the string 'false'$/,
    ],
    'half a number': [
      harness({ middleware: { loop_detection: { edit_threshold: 2.5 } } }),
      /expected a whole number, received 2\.5/,
    ],
    'a number out of range': [
      harness({ middleware: { loop_detection: { edit_threshold: 0 } } }),
      /must be at least 1, is 0/,
    ],
    'a list of other things': [
      harness({ middleware: { file_protection: { protected_patterns: ['a', 1] } } }),
      /expected a list of strings/,
    ],
    'a list for a group': [harness({ middleware: [] }), /middleware: expected a mapping, received a list/],
    nothing: [harness({ state: null }), /state: expected a mapping, received nothing/],
    'another format': [harness({ state: { format: 'xml' } }), /expected 'json', received the string 'xml'/],
    'another version': [harness({ version: '2.0.0' }), /version: must match \^1/],
    'no object': [{ 'project/harness.json': '[]' }, /:1:1: expected a mapping, received a list/],
    'a comma too many': [
      { 'project/harness.json': '{\n  "version": "1.0.0",\n}' },
      /:3:1: is not valid JSON/,
    ],
    'half a file': [{ 'project/harness.json': '{"state": {' }, /:1:12: is not valid JSON/],
    'an empty file': [{ 'project/harness.json': '' }, /:1:1: is not valid JSON/],
    'an unknown key in gantry.yaml': [
      { 'project/gantry.yaml': 'guard:\n  state:\n    dri: x\n' },
      /gantry\.yaml:3:5: unknown key 'dri', did you mean 'dir'\?$/,
    ],
    'a key that stands twice in gantry.yaml': [
      { 'project/gantry.yaml': 'guard:\n  state: {}\n  state: {}\n' },
      /gantry\.yaml:3:3: duplicate key 'state'/,
    ],
  }

  test.each(Object.entries(cases))('are reported with their position: %s', async (_, [files, problem]) => {
    const found = await read(files)
    expect(found.kind).toBe('broken')
    expect(found.kind === 'broken' ? found.problem : '').toMatch(problem)
    expect(found.settings).toEqual(defaultSettings)
  })

  test.each([
    ['HARNESS_LOOP_THRESHOLD', 'many', "expected a whole number, received the string 'many'"],
    ['HARNESS_LOOP_THRESHOLD', '2.5', 'expected a whole number, received 2.5'],
    ['HARNESS_LOOP_THRESHOLD', '-1', 'must be at least 1, is -1'],
    ['HARNESS_CONTEXT_ENABLED', 'yes', "expected true, false, 1 or 0, received 'yes'"],
    ['HARNESS_TIME_BUDGET', '1e3', "expected a number, received the string '1e3'"],
    ['HARNESS_VERIFICATION_COMMANDS', 'npm test', "expected a JSON array of strings, received 'npm test'"],
    ['HARNESS_BOUNDARY_ALSO', '/a:b', "each must match ^/, one is 'b'"],
    ['HARNESS_BOUNDARY_GIT', 'none', "expected 'all' or 'read', received the string 'none'"],
    ['HARNESS_VERIFICATION_COMMANDS', '[1]', "expected a JSON array of strings, received '[1]'"],
  ])('are reported by their variable: %s=%s', async (name, text, why) => {
    const found = await read({ 'project/a': '' }, { [name]: text })
    expect(found).toMatchObject({ kind: 'broken', problem: `environment variable ${name}: ${why}` })
  })

  test('are all reported at once', async () => {
    const files = { ...harness({ stat: {}, versio: '1' }), 'project/gantry.yaml': 'guard: { a: 1 }' }
    const found = await read(files, { HARNESS_LOOP_ENABLED: 'x' })
    expect(found.kind === 'broken' ? found.problem.split('\n') : []).toHaveLength(4)
  })

  test('are not slow with hostile nesting', async () => {
    const found = await read({ 'project/harness.json': `{"state":${'['.repeat(2e5)}${']'.repeat(2e5)}}` })
    expect(found.kind).toBe('broken')
  })
})

describe('a gantry.yaml', () => {
  test('without a guard key is ignored, even if it is otherwise broken', async () => {
    expect((await read({ 'project/gantry.yaml': 'agents: [\n' })).kind).toBe('read')
  })

  test('with an empty guard key changes nothing', async () => {
    expect(await read({ 'project/gantry.yaml': 'guard:\n' })).toMatchObject({ kind: 'read' })
  })

  test('is found in a parent directory, and gantry.yaml comes before gantry.yml', async () => {
    const found = await read({
      'project/a': '',
      'gantry.yaml': 'guard: { state: { dir: a } }',
      'gantry.yml': 'guard: { state: { dir: b } }',
    })
    expect(found.settings.state.dir).toBe('a')
  })
})

test('every possible place of settings is listed, existing or not', async () => {
  await using fixture = await createFixture({ 'gantry.yml': '', 'project/a': '' })
  const places = settingPlaces({
    root: join(fixture.path, 'project'),
    env: { CLAUDE_PLUGIN_ROOT: '/plugin' },
  })
  const at = (path: string): string => join(fixture.path, path)
  expect(places).toEqual([
    '/plugin/harness/harness.json',
    at('project/harness/harness.json'),
    at('project/harness.json'),
    at('project/gantry.yaml'),
    at('project/gantry.yml'),
    at('gantry.yaml'),
    at('gantry.yml'),
  ])
})

interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly user?: unknown
  readonly project?: unknown
  /** In gantry.yaml, which overrides harness.json. */
  readonly gantry?: unknown
}

async function readBoundary({ env = {}, user, project, gantry }: Given) {
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
  test.each(['project', 'gantry'])('cannot loosen the limits of the environment: %s', async (file) => {
    expect((await readBoundary({ env: strict, [file]: loose })).settings.boundary).toEqual(asSet)
    expect((await readBoundary({ env: strict })).settings.boundary).toEqual(asSet)
  })

  test('cannot loosen the limits of the user', async () => {
    const user = { enabled: true, package: 'packages/one', also: ['/scratch'], git: 'read' }
    const { boundary } = (await readBoundary({ user, project: loose })).settings
    expect(boundary).toEqual({ ...asSet, refused: [] })
  })

  test('can narrow the limits, key by key', async () => {
    const project = { package: 'packages/one/src', refused: ['agent.yaml', 'b'] }
    const { boundary } = (await readBoundary({ env: strict, project })).settings
    expect(boundary).toEqual({ ...asSet, package: 'packages/one/src', refused: ['agent.yaml', 'b'] })
    const git = (await readBoundary({ env: { HARNESS_BOUNDARY_GIT: 'all' }, project: { git: 'read' } }))
      .settings
    expect(git.boundary.git).toBe('read')
  })

  test('can enable the limits, even if the environment disables them', async () => {
    const env = { HARNESS_BOUNDARY_ENABLED: 'false' }
    expect((await readBoundary({ env, project: { enabled: true } })).settings.boundary.enabled).toBe(true)
    expect((await readBoundary({ env, project: { enabled: false } })).settings.boundary.enabled).toBe(false)
    expect((await readBoundary({ env, user: { enabled: true } })).settings.boundary.enabled).toBe(false)
  })

  test.each(['packages/one', './packages//one/', 'packages', ''])(
    'with the same or a wider package changes nothing: %s',
    async (inner) => {
      const found = await readBoundary({ env: strict, project: { package: inner } })
      expect(join('/', found.settings.boundary.package, '/')).toBe('/packages/one/')
    },
  )

  test.each(['packages/two', 'packages/one-more', 'pack'])(
    'with a different package is broken, and the message names both: %s',
    async (inner) => {
      expect(await readBoundary({ env: strict, project: { package: inner } })).toMatchObject({
        kind: 'broken',
        problem: `boundary.package: '${inner}' of the project is neither inside nor around 'packages/one', which the user set`,
      })
    },
  )

  test.each([
    ['also', ['/tmp']],
    ['root', '/'],
  ])('with %s is broken, and the message has the position', async (key, value) => {
    for (const file of ['project', 'gantry']) {
      const found = await readBoundary({ env: strict, [file]: { [key]: value } })
      expect(found.kind === 'broken' && found.problem).toMatch(
        new RegExp(`^/.*:1:\\d+: boundary\\.${key}: only the user may set this`),
      )
    }
  })
})

test("the environment overrides the user's file", async () => {
  const user = {
    enabled: true,
    root: '/a',
    package: 'packages/two',
    also: ['/other'],
    refused: ['b'],
    git: 'all',
  }
  const { boundary } = (await readBoundary({ env: { ...strict, HARNESS_BOUNDARY_ROOT: '/b' }, user }))
    .settings
  expect(boundary).toEqual({ ...asSet, root: '/b' })
})

test('private keys stay protected, whatever list is configured', () => {
  const settings = settingsOf({ 'middleware.file_protection.protected_patterns': ['*.secret'] })
  expect(settings.fileProtection.protectedPatterns).toEqual(['*.secret', 'id_rsa*'])
})
