import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { runGantry, runShell } from '../robustness/lab.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import { makeProject } from '../support/project.ts'
import { client, linesOf, modelScript, post, startBoundary } from './lab.ts'

const apis = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']
const scripted = () => makeProject({ 'model.yaml': modelScript('Hello from the file.') })
const serve = ['boundary', 'serve', '--script', 'model.yaml']

describe('a program behind a scripted model', () => {
  test('has its answer by every API, at once and as a stream', async () => {
    using project = scripted()
    const asks = apis.flatMap((api) => [client('--api', api, 'hi'), client('--api', api, '--stream', 'hi')])
    project.write({ 'ask.sh': `#!/bin/sh\n${asks.map((argv) => argv.join(' ')).join('\n')}\n` })
    const ran = await runGantry(project, [...serve, '--', project.path('ask.sh')])
    expect(ran.stdout).toBe('Hello from the file.\n'.repeat(8))
    for (const [index, api] of apis.entries()) {
      expect(ran.stderr).toContain(`#${index * 2 + 1} ${api} claude-sonnet-5`)
      expect(ran.stderr).toContain(`#${index * 2 + 2} ${api} claude-sonnet-5`)
    }
    expect(ran.stderr).toContain('8 exchanges.')
    expect(ran.stderr).toContain('not charged')
    expect(ran.code).toBe(0)
  })

  test('gets no hint how to connect a program, and its output is passed through', async () => {
    using project = scripted()
    const { stderr } = await runGantry(project, [...serve, '--', ...client('hi')])
    expect(stderr).not.toContain('export ')
    expect(stderr).not.toContain('Ctrl-C')
  })

  test('writes to standard error when standard output is wanted for JSON', async () => {
    using project = scripted()
    const ran = await runGantry(project, [...serve, '--json', '--', ...client('hi')])
    expect(linesOf(ran).map(({ kind }) => kind)).toEqual(['ready', 'exchange', 'end'])
    expect(linesOf(ran)[1]).toMatchObject({
      kind: 'exchange',
      call: 'turn',
      api: 'anthropic',
      model: 'claude-sonnet-5',
      status: 200,
      by: 'script',
      tokens: { input: 1_000, output: 100 },
    })
    expect(linesOf(ran)[2]).toMatchObject({
      exchanges: 1,
      isPaid: false,
      problem: null,
      exitCode: 0,
      refused: 0,
    })
    expect(ran.stderr).toBe('Hello from the file.\n')
  })

  test('that was interrupted leaves its exit code', async () => {
    using project = scripted()
    const ran = await runGantry(project, [...serve, '--', ...client('--exit', '130', 'hi')])
    expect(ran.code).toBe(130)
  })

  test('that fails makes it fail, and its exit code is shown', async () => {
    using project = scripted()
    const ran = await runGantry(project, [...serve, '--', ...client('--exit', '7', 'hi')])
    expect(ran).toMatchObject({ code: 1, stdout: 'Hello from the file.\n' })
    expect(ran.stderr).toContain('The program ended with exit code 7.')
    const run = await runGantry(project, [...serve, '--json', '--', ...client('--exit', '7', 'hi')])
    expect(linesOf(run).at(-1)).toMatchObject({ kind: 'end', exitCode: 7 })
  })

  test('that dies of a signal is reported with the name of the signal', async () => {
    using project = scripted()
    const ran = await runGantry(project, [...serve, '--', 'sh', '-c', 'kill -9 $$'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('The program ended with SIGKILL.')
  })

  test('that is not there is named, and it is bad usage', async () => {
    using project = scripted()
    const ran = await runGantry(project, [...serve, '--', 'no-such-program'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('cannot start no-such-program: it is not on the PATH')
    expect(ran.stderr).toContain('After -- name the program to run')
  })

  test('with its own flags needs -- before it, and the error says so', async () => {
    using project = scripted()
    const { code, stderr } = await gantry(project, [...serve, 'node', '-e', '1'])
    expect(code).toBe(2)
    expect(stderr).toContain("unknown option '-e'")
    expect(stderr).toContain('after --')
  })

  test('has our standard input', async () => {
    using project = scripted()
    const ran = await runShell(project, 'echo typed | $GANTRY boundary serve --script model.yaml -- cat')
    expect(ran).toMatchObject({ code: 0, stdout: 'typed\n' })
  })

  test('is not given the caller’s keys', async () => {
    using project = scripted()
    const secrets = {
      ANTHROPIC_API_KEY: 'sk-ant-secret-one-1234',
      ANTHROPIC_AUTH_TOKEN: 'secret-two-12345678',
      OPENAI_API_KEY: 'sk-secret-three-12345',
      GEMINI_API_KEY: 'secret-four-12345678',
      GOOGLE_API_KEY: 'secret-five-12345678',
    }
    await runGantry(project, [...serve, '--', ...client('--dump-env', 'env.json', 'hi')], { env: secrets })
    const env = JSON.parse(project.read('env.json')) as Record<string, string>
    for (const value of Object.values(secrets)) expect(JSON.stringify(env)).not.toContain(value)
    expect(env.OPENAI_BASE_URL).toBe(`${env.ANTHROPIC_BASE_URL}/v1`)
    expect(env.ANTHROPIC_API_KEY).toBe(env.GEMINI_API_KEY)
    expect(env.HOME).toBe(project.home)
  })

  test('is ended with Gantry, which reports the interruption', async () => {
    using project = scripted()
    const { child, ended } = startGantry(project, [...serve, '--', 'sh', '-c', 'echo up; exec sleep 60'])
    await new Promise((settle) => child.stdout?.once('data', settle))
    child.kill('SIGTERM')
    const { code, stderr } = await ended
    expect(code).toBe(130)
    expect(stderr).toContain('The program ended with SIGTERM.')
    expect(stderr).toContain('0 exchanges.')
  })
})

test('a SIGTERM after a SIGINT ends Gantry at once, as supervisors send them', async () => {
  using project = scripted()
  const deaf = 'trap "" INT TERM; echo up; until [ -e stop ]; do sleep 0.1; done'
  const { child, ended } = startGantry(project, [...serve, '--', 'sh', '-c', deaf])
  await once(child.stdout ?? child, 'data')
  child.kill('SIGINT')
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  project.write({ stop: '' })
  expect(code).toBe(130)
  // It did not wait for the program.
  expect((await ended).stderr).not.toContain('The program ended')
})

describe('serving until Ctrl-C', () => {
  test('prints lines a shell can read, and nothing else, on standard output', async () => {
    using project = scripted()
    const { child, ended } = startGantry(project, serve)
    await new Promise<void>((settle) => {
      let text = ''
      child.stdout?.on('data', (piece: string) => {
        text += piece
        if (text.includes('GEMINI_API_KEY')) settle()
      })
    })
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n').length).toBe(6)
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^export [A-Z_]+=[\w:/.-]+$/)
    const url = /^export ANTHROPIC_BASE_URL=(.*)$/m.exec(stdout)?.[1] ?? ''
    expect(stderr).toContain(`listens at ${url} until Ctrl-C`)
    expect(stderr).toContain('0 exchanges.')
  })

  test('accepts only clients with the token, in the path or as the key', async () => {
    using project = scripted()
    const server = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const { origin } = new URL(server.url)
    const wrong = [
      await post(origin),
      await post(origin, { 'x-api-key': 'wrong' }),
      await post(`${origin}/wrong`),
      await fetch(`${origin}/`),
      await fetch(`${origin}/v1/models`, { headers: { authorization: 'Bearer ' } }),
    ]
    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
    expect(await wrong[0]?.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
    const right = [
      await post(server.url),
      await post(origin, { 'x-api-key': server.key }),
      await post(origin, { authorization: `Bearer ${server.key}` }),
    ]
    expect(right.map(({ status }) => status)).toEqual([200, 200, 200])
    const ended = await server.interrupt()
    expect(ended.code).toBe(0)
    expect(linesOf(ended).filter(({ kind }) => kind === 'exchange').length).toBe(3)
  })

  test('listens at 127.0.0.1 and at no other address of the machine', async () => {
    using project = scripted()
    const server = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const { port } = new URL(server.url)
    const hex = Number(port).toString(16).toUpperCase().padStart(4, '0')
    const listening = ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === '0A')
    expect(listening.map(([, local]) => local)).toEqual([`0100007F:${hex}`])
    const others = Object.values(networkInterfaces())
      .flat()
      .flatMap((face) =>
        face === undefined || face.internal || face.family !== 'IPv4' ? [] : [face.address],
      )
    for (const address of others)
      await expect(post(`http://${address}:${port}/${server.key}`)).rejects.toThrow()
    await server.interrupt()
  })

  test('keeps answering after an aborted call and after invalid input', async () => {
    using project = makeProject({
      'model.yaml': {
        turns: [{ text: 'late', delay_ms: 60_000 }, { text: 'x' }],
        side: { text: 'late', delay_ms: 60_000 },
      },
    })
    const server = await startBoundary(project, ['serve', '--script', 'model.yaml'])
    const leaving = new AbortController()
    const left = fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      body: '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
      signal: leaving.signal,
    }).catch(() => 'gone')
    const bad = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: '{"model":' })
    expect(bad.status).toBe(400)
    expect((await fetch(`${server.url}/v1/nothing`, { method: 'POST' })).status).toBe(404)
    leaving.abort()
    expect(await left).toBe('gone')
    expect((await server.interrupt()).code).toBe(0)
  })
})

describe('the port', () => {
  test('can be fixed, and a used one is reported', async () => {
    using project = scripted()
    const taken = createServer()
    const port = await new Promise<string>((settle) =>
      taken.listen(0, '127.0.0.1', () => {
        const address = taken.address()
        settle(typeof address === 'object' && address !== null ? String(address.port) : '')
      }),
    )
    const refused = await runGantry(project, [...serve, '--port', port, '--', 'true'])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain(port)
    expect(refused.stderr).toMatch(/taken|in use|another process/)
    await new Promise((settle) => taken.close(settle))
    const server = await startBoundary(project, ['serve', '--script', 'model.yaml', '--port', port])
    expect(new URL(server.url).port).toBe(port)
    await server.interrupt()
  })

  test.each(['-1', '65536', 'http', '80.5', ''])('%j is invalid', async (port) => {
    using project = scripted()
    const { code, stderr } = await gantry(project, [...serve, `--port=${port}`, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain('a port from 0 to 65535')
  })
})
