import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../src/cli/main.ts'
import { gantry } from '../support/gantry.ts'
import { makeRun, startView, viewProject } from './lab.ts'

test('a second command gets a new code of the page that is served, and opens the browser where a person is', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const { url, address } = await startView(project)
  const { port } = new URL(url)
  const second = await gantry(project, ['view', '--no-open', '--json', '--port', port, run])
  const answer = JSON.parse(second.stdout)
  expect(answer).toEqual({ url, address: expect.stringContaining(`&to=/runs/${run}`) })
  expect(answer.address).not.toBe(address)
  const opener = project.path('xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > "${project.path('opened')}"\n`)
  chmodSync(opener, 0o755)
  let printed = ''
  const write = (text: string): void => {
    printed += text
  }
  const stream = { write, isTTY: true, columns: 100, color: false }
  const env = { PATH: `${project.dir}:${process.env.PATH}`, HOME: project.home, DISPLAY: ':9' }
  const open = (changes: object, argv: readonly string[]) =>
    runCli(['view', '--port', port, ...argv], {
      cwd: project.dir,
      env: { ...env, AGENT_ARTIFACT_DIR: project.store },
      stdout: { ...stream, ...changes },
      stderr: stream,
      signal: new AbortController().signal,
      setExitCode: () => {},
    })
  await open({}, [])
  await expect
    .poll(() => readIfThere(project.path('opened')))
    .toMatch(new RegExp(`^${url}/#code=[\\w-]+&to=/$`))
  expect(printed).toContain(`Opened ${url}/#code=`)
  // No browser opens when the output is a pipe, or with --no-open.
  writeFileSync(project.path('opened'), '')
  for (const [changes, argv] of [
    [{ isTTY: false }, []],
    [{}, ['--no-open']],
  ] as const) {
    printed = ''
    await open(changes, argv)
    expect(printed).toContain(`Open ${url}/#code=`)
  }
  expect(readIfThere(project.path('opened'))).toBe('')
})

test('a program that took the port gets no token', async () => {
  const project = viewProject()
  const asked: { readonly url: string | undefined; readonly authorization: string | undefined }[] = []
  const stranger = createHttpServer(({ url, headers: { authorization } }, response) => {
    asked.push({ url, authorization })
    response.setHeader('content-type', 'application/json').end('{"proof":"guess","code":"their-code"}')
  })
  await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done))
  onTestFinished(() => void stranger.close())
  const { port } = stranger.address() as { port: number }
  const taken = await gantry(project, ['view', '--no-open', '--port', String(port)])
  expect(taken.code).not.toBe(0)
  expect(taken.stderr).toContain('taken by another program')
  expect(asked).toEqual([
    { url: expect.stringMatching(/^\/v1\/session\/proof\?nonce=/), authorization: undefined },
  ])
})

test('a port of another program, or none at all, is refused', async () => {
  const project = viewProject()
  const other = createServer((socket) => socket.destroy())
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  onTestFinished(() => void other.close())
  const { port } = other.address() as { port: number }
  const taken = await gantry(project, ['view', '--no-open', '--port', String(port)])
  expect(taken.code).not.toBe(0)
  expect(taken.stderr).toContain(String(port))
  expect((await gantry(project, ['view', '--no-open', '--port', '99999'])).code).toBe(2)
})

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
