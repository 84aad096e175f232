import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canMount, runGantry, runMounted } from '../robustness/lab.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { client, everythingIn, linesOf, modelScript, post, type Served, startBoundary } from './lab.ts'

const record = ['boundary', 'record', '--to', 'tape']
const replay = ['boundary', 'replay', '--from', 'tape']
const scripted = () =>
  makeProject({ 'model.yaml': modelScript('Hello.'), 'other.yaml': modelScript('Other.') })
const byScript = (file = 'model.yaml') => [...record, '--script', file, '--']

const original = scripted()
beforeAll(async () => {
  const ran = await runGantry(original, [...byScript(), ...client('hi')])
  if (ran.code !== 0) throw new Error(ran.stderr)
})
afterAll(() => original[Symbol.dispose]())

/** A cassette of one exchange: `hi`, `Hello.` */
function recorded(): TestProject {
  const project = scripted()
  cpSync(original.path('tape'), project.path('tape'), { recursive: true })
  return project
}

/** The caller's variables that lead to a provider, with the provider's key. */
function providerOf({ url, key }: Served): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: new URL(url).origin,
    ANTHROPIC_API_KEY: key,
    OPENAI_BASE_URL: `${new URL(url).origin}/v1`,
    OPENAI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: new URL(url).origin,
    GEMINI_API_KEY: key,
  }
}

describe('a recording of a provider', () => {
  test('is replayed without it, by every API, streaming and not, and contains no key', async () => {
    using project = scripted()
    const upstream = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const env = providerOf(upstream)
    const program = project.path('ask.sh')
    const apis = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']
    const asks = apis.flatMap((api) => [client('--api', api, 'hi'), client('--api', api, '--stream', 'hi')])
    project.write({ 'ask.sh': `#!/bin/sh\n${asks.map((argv) => argv.join(' ')).join('\n')}\n` })
    const made = await runGantry(project, [...record, '--', program], { env })
    expect(made.code).toBe(0)
    expect(made.stdout).toBe('Hello.\n'.repeat(8))
    expect(made.stderr).toContain('8 exchanges.')
    expect(made.stderr).toContain(`The recording is in ${project.path('tape')}`)
    const asked = await upstream.interrupt()
    expect(linesOf(asked).filter(({ kind }) => kind === 'exchange').length).toBe(8)

    const again = await runGantry(project, [...replay, '--', program], { env })
    expect(again).toMatchObject({ code: 0, stdout: made.stdout })
    expect(again.stderr.match(/by replay/g)?.length).toBe(8)
    expect(again.stderr).toContain('not charged')
    expect(made.stderr).not.toContain('not charged')
    const keyless = await runGantry(project, [...replay, '--', program])
    expect(keyless).toMatchObject({ code: 0, stdout: made.stdout })

    for (const text of [made, again].flatMap(({ stdout, stderr }) => [stdout, stderr]))
      expect(text).not.toContain(upstream.key)
    expect(everythingIn(project.path('tape'))).not.toContain(upstream.key)
    if (existsSync(project.store)) expect(everythingIn(project.store)).not.toContain(upstream.key)
  })

  test('hides a key that the program sends or receives', async () => {
    using project = scripted()
    const upstream = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const argv = [...record, '--', ...client(`my key is ${upstream.key}`)]
    const made = await runGantry(project, argv, { env: providerOf(upstream) })
    await upstream.interrupt()
    expect(made.code).toBe(0)
    expect(everythingIn(project.path('tape'))).not.toContain(upstream.key)
  })

  test('of one that refuses the key passes the refusal on to the program', async () => {
    using project = scripted()
    const upstream = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const env = { ...providerOf(upstream), ANTHROPIC_API_KEY: 'sk-ant-revoked-0123456789' }
    const made = await runGantry(project, [...record, '--', ...client('hi')], { env })
    await upstream.interrupt()
    expect(made.code).toBe(1)
    expect(made.stderr).toContain('status 401')
    expect(made.stderr).not.toContain('sk-ant-revoked-0123456789')
    expect(everythingIn(project.path('tape'))).not.toContain('sk-ant-revoked-0123456789')
  })

  test('that cannot be reached is a 502 with the reason, and a missing key is reported', async () => {
    using project = scripted()
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
    const made = await runGantry(project, ['boundary', 'serve', '--', ...client('hi')], { env })
    expect(made.code).toBe(1)
    expect(made.stderr).toContain('No key of a provider is in the environment')
    expect(made.stderr).toMatch(/status 502: .*(ECONNREFUSED|127\.0\.0\.1:1)/)
  })
})

describe('a call the cassette does not know', () => {
  test('ends the program and shows what changed', async () => {
    using project = recorded()
    const { code, stderr } = await runGantry(project, [...replay, '--', ...client('ho')])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^-hi$/m)
    expect(stderr).toMatch(/^\+ho$/m)
    expect(stderr).toContain('Nearest is exchange 1 of 1')
    const output = await runGantry(project, [...replay, '--json', '--', ...client('ho')])
    expect(linesOf(output).at(-1)).toMatchObject({ kind: 'end', problem: expect.stringContaining('+ho') })
  })

  test('ends a program that does not listen, too', async () => {
    using project = recorded()
    project.write({
      'deaf.mjs': `process.on('SIGTERM', () => {})
await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body: '{"model":"m","messages":[{"role":"user","content":"new"}]}' })
setInterval(() => {}, 1_000)
`,
    })
    const { code, stderr } = await runGantry(project, [...replay, '--', process.execPath, 'deaf.mjs'])
    expect(code).toBe(1)
    expect(stderr).toContain('The program ended with SIGKILL.')
  })

  test('ends a server, with exit 1', async () => {
    using project = recorded()
    const server = await startBoundary(project, ['replay', '--from', 'tape'])
    expect((await post(server.url)).status).toBe(402)
    const { code } = await server.ended
    expect(code).toBe(1)
  })

  test('is requested and added with --auto, and replayed from then on', async () => {
    using project = recorded()
    const upstream = await startBoundary(project, ['serve', '--script', 'other.yaml'])
    const auto = [...replay, '--auto', '--json', '--']
    const both = async (argv: readonly string[], env = {}) => {
      project.write({
        'ask.sh': `#!/bin/sh\n${[client('hi'), client('ho')].map((a) => a.join(' ')).join('\n')}\n`,
      })
      return runGantry(project, [...argv, project.path('ask.sh')], { env })
    }
    const first = await both(auto, providerOf(upstream))
    expect(first.stderr).toBe('Hello.\nOther.\n')
    const by = linesOf(first).flatMap(({ kind, by: how }) => (kind === 'exchange' ? [how] : []))
    expect(by).toEqual(['replay', 'record'])
    const asked = await upstream.interrupt()
    expect(linesOf(asked).at(-1)).toMatchObject({ exchanges: 1 })
    const strict = await both([...replay, '--'])
    expect(strict).toMatchObject({ code: 0, stdout: 'Hello.\nOther.\n' })
  })
})

describe('recording anew', () => {
  test('replaces the cassette, but only at the end', async () => {
    using project = recorded()
    const before = everythingIn(project.path('tape'))
    const server = await startBoundary(project, ['record', '--to', 'tape', '--script', 'other.yaml'])
    expect((await post(server.url)).status).toBe(200)
    expect(everythingIn(project.path('tape'))).toBe(before)
    expect((await server.interrupt()).code).toBe(0)
    const after = await gantry(project, ['boundary', 'inspect', 'tape'])
    expect(after.stdout).toContain('Other.')
    expect(after.stdout).not.toContain('Hello.')
    expect(readdirSync(project.dir).sort()).toEqual(['model.yaml', 'other.yaml', 'tape'])
  })

  test('that is killed leaves the old one, and the next recording works', async () => {
    using project = recorded()
    const before = everythingIn(project.path('tape'))
    const server = await startBoundary(project, ['record', '--to', 'tape', '--script', 'other.yaml'])
    await post(server.url)
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    expect(everythingIn(project.path('tape'))).toBe(before)
    expect(await runGantry(project, [...replay, '--', ...client('hi')])).toMatchObject({
      code: 0,
      stdout: 'Hello.\n',
    })
    const again = await runGantry(project, [...byScript('other.yaml'), ...client('hi')])
    expect(again).toMatchObject({ code: 0, stdout: 'Other.\n' })
    expect(readdirSync(project.dir).sort()).toEqual(['model.yaml', 'other.yaml', 'tape'])
  })

  test('that is killed without an earlier cassette leaves one marked as incomplete', async () => {
    using project = scripted()
    const server = await startBoundary(project, ['record', '--to', 'tape', '--script', 'model.yaml'])
    await post(server.url)
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    const strict = await gantry(project, [...replay, '--', 'true'])
    expect(strict.code).toBe(3)
    expect(strict.stderr).toContain('is incomplete: its recording was interrupted')
    expect((await gantry(project, ['boundary', 'inspect', 'tape'])).stdout).toContain('interrupted')
  })

  test.each([
    ['asked nothing', ['true'], 0],
    ['died', ['sh', '-c', `${client('hi').join(' ')}; kill -9 $$`], 1],
    ['could not be started', ['no-such-program'], 2],
  ])('by a program that %s keeps the old one, and leaves nothing beside it', async (_, program, code) => {
    using project = recorded()
    const before = everythingIn(project.path('tape'))
    const ran = await runGantry(project, [...byScript('other.yaml'), ...program])
    expect(ran.code).toBe(code)
    if (code !== 2) expect(ran.stderr).toContain('is unchanged')
    expect(everythingIn(project.path('tape'))).toBe(before)
    expect(readdirSync(project.dir).sort()).toEqual(['model.yaml', 'other.yaml', 'tape'])
  })

  test('by two at once: the second sees who is recording', async () => {
    using project = recorded()
    const first = await startBoundary(project, ['record', '--to', 'tape', '--script', 'other.yaml'])
    const second = await gantry(project, [...byScript(), 'true'])
    expect(second.code).toBe(3)
    expect(second.stderr).toContain(`process ${first.pid} (recording a cassette) is recording into`)
    await first.interrupt()
    expect((await runGantry(project, [...byScript(), ...client('hi')])).code).toBe(0)
  })

  test('into a directory with other files is refused, and changes nothing', async () => {
    using project = scripted()
    project.write({ 'tape/mine.txt': 'mine' })
    const { code, stderr } = await gantry(project, [...byScript(), ...client('hi')])
    expect(code).toBe(2)
    expect(stderr).toContain('is not a cassette')
    expect(readdirSync(project.path('tape'))).toEqual(['mine.txt'])
    expect(readdirSync(project.dir)).not.toContain('tape.lock')
  })

  test('onto a file is refused', async () => {
    using project = scripted()
    project.write({ tape: 'mine' })
    const { code, stderr } = await gantry(project, [...byScript(), 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain('is not a directory')
  })

  test.skipIf(!canMount())('where nothing can be written is refused before anything is asked', async () => {
    using project = scripted()
    const { code, stderr, stdout } = await runMounted(
      project,
      `mkdir locked && mount -t tmpfs -o ro tmpfs locked || exit 77
       exec $GANTRY boundary record --to locked/tape --script model.yaml -- ${client('hi').join(' ')}`,
    )
    expect(stderr).toMatch(/^error: cannot .*locked\/tape.*: the file system is read-only\nhint: /)
    expect(code).toBe(3)
    expect(stdout).toBe('')
  })

  test.skipIf(!canMount())('is replayed from where nothing can be written', async () => {
    using project = recorded()
    const { code, stdout } = await runMounted(
      project,
      `mkdir locked && mount -t tmpfs tmpfs locked && cp -r tape locked && mount -o remount,ro locked || exit 77
       exec $GANTRY boundary replay --from locked/tape -- ${client('hi').join(' ')}`,
    )
    expect(stdout).toBe('Hello.\n')
    expect(code).toBe(0)
  })

  test.skipIf(!canMount())('on a disk that is full tells so at the end, and keeps the old one', async () => {
    using project = makeProject({
      'model.yaml': modelScript('Hello.'),
      'long.yaml': modelScript('word '.repeat(100_000)),
    })
    const { code, stderr } = await runMounted(
      project,
      `mkdir small && mount -t tmpfs -o size=128k tmpfs small || exit 77
       $GANTRY boundary record --to small/tape --script model.yaml -- ${client('hi').join(' ')} > /dev/null 2>&1
       $GANTRY boundary record --to small/tape --script long.yaml -- ${client('hi').join(' ')} > /dev/null
       code=$?; $GANTRY boundary inspect small/tape | grep -q Hello || exit 99; exit $code`,
    )
    expect(stderr).toContain('no space left on the disk')
    expect(code).toBe(3)
  })

  test('below a file is refused with its path', async () => {
    using project = scripted()
    const argv = ['boundary', 'record', '--to', 'model.yaml/tape', '--script', 'model.yaml', '--', 'true']
    const { code, stderr } = await gantry(project, argv)
    expect([2, 3]).toContain(code)
    expect(stderr).toContain('model.yaml')
    expect(stderr).not.toContain('bug:')
  })
})

describe('a cassette edited by hand', () => {
  const damages: readonly [string, (project: TestProject) => void, RegExp, number][] = [
    ['bad JSON', (p) => p.write({ 'tape/0001.json': '{ "exchange": ' }), /0001\.json/, 3],
    ['an exchange missing', (p) => rmSync(p.path('tape/0001.json')), /0001\.json is missing/, 3],
    [
      'an exchange of another shape',
      (p) => p.write({ 'tape/0001.json': '{"exchange":1}\n' }),
      /is not valid in a cassette at/,
      3,
    ],
    ['a bad index', (p) => p.write({ 'tape/cassette.json': '[]' }), /cassette\.json/, 3],
    [
      'another version',
      (p) =>
        p.write({
          'tape/cassette.json': p.read('tape/cassette.json').replace(/"format": \d+/, '"format": 99'),
        }),
      /version|99/,
      2,
    ],
    ['no index', (p) => rmSync(p.path('tape/cassette.json')), /is not a cassette/, 2],
  ]
  test.each(damages)('%s: is reported without a stack trace', async (_, damage, message, code) => {
    using project = recorded()
    damage(project)
    for (const argv of [
      [...replay, '--', 'true'],
      ['boundary', 'inspect', 'tape'],
    ]) {
      const ran = await gantry(project, argv)
      expect(ran.stderr).toMatch(message)
      expect(ran.stderr).not.toContain('bug:')
      expect(ran.code).toBe(code)
    }
  })

  test('a blob that is missing is named', async () => {
    using project = makeProject({ 'model.yaml': modelScript('word '.repeat(2_000)) })
    await runGantry(project, [...byScript(), ...client('hi')])
    expect(existsSync(project.path('tape/blobs'))).toBe(true)
    rmSync(project.path('tape/blobs'), { recursive: true })
    const ran = await runGantry(project, [...replay, '--', ...client('hi')])
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toMatch(/blobs\/\w+\.txt is missing/)
    expect(ran.stderr).not.toContain('bug:')
  })

  test('a changed answer is what the program gets', async () => {
    using project = recorded()
    project.write({ 'tape/0001.json': project.read('tape/0001.json').replace('Hello.', 'Edited.') })
    expect((await runGantry(project, [...replay, '--', ...client('hi')])).stdout).toBe('Edited.\n')
  })

  test('one that is not there says how to make it', async () => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, [...replay, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain(`there is no cassette at ${project.path('tape')}`)
    expect(stderr).toMatch(/[Rr]ecord it/)
  })
})

test('a cost limit for a replay is bad usage, except with --auto', async () => {
  using project = recorded()
  const { code, stderr } = await gantry(project, [...replay, '--max-cost-usd', '1', '--', 'true'])
  expect(code).toBe(2)
  expect(stderr).toContain('a replay costs nothing')
  const auto = await runGantry(project, [...replay, '--auto', '--max-cost-usd', '1', '--', ...client('hi')])
  expect(auto).toMatchObject({ code: 0, stdout: 'Hello.\n' })
})

describe('a recording under way', () => {
  test('can be ended while a call waits for its answer', async () => {
    using project = makeProject({
      'model.yaml': { turns: [{ text: 'late', delay_ms: 60_000 }], side: { text: 'late', delay_ms: 60_000 } },
    })
    const asks = ['sh', '-c', `echo asks; exec ${client('hi').join(' ')}`]
    const { child, ended } = startGantry(project, [...byScript(), ...asks])
    await once(child.stdout ?? child, 'data')
    // The client has begun; whether its call has arrived makes no difference to the end.
    await sleep(300)
    child.kill('SIGINT')
    const { code } = await ended
    expect(code).toBe(130)
    expect(existsSync(project.path('tape'))).toBe(false)
    expect(existsSync(project.path('tape.lock'))).toBe(false)
  })
})
