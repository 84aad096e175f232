import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { serveToken } from '../server/serve-token.ts'
import { serveCommand } from './serve.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-serve-'))
  mkdirSync(join(root, 'app'))
  writeFileSync(join(root, 'short'), 'secret')
  writeFileSync(join(root, 'good'), 'a-token-that-is-long-enough\n')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function serve(argv: readonly string[], env: Record<string, string> = {}) {
  return runCommand(serveCommand, argv, {
    cwd: join(root, 'app'),
    env: { AGENT_ARTIFACT_DIR: join(root, 'store'), ...env },
  })
}

test.each(['0.0.0.0', '192.0.2.1', '::', 'example.org'])(
  'refuses to listen on %s without a token of the user, with a hint',
  async (host) => {
    await expect(serve(['--host', host, '--port', '0'])).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('no token was given'),
      hint: expect.stringMatching(/--token-file.*GANTRY_SERVE_TOKEN/),
    })
  },
)

test('an address of another machine is reported', async () => {
  await expect(
    serve(['--host', '192.0.2.1', '--port', '0', '--token-file', '../good']),
  ).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('not an address of this machine'),
  })
})

test('a token that is weak or missing is rejected', async () => {
  await expect(serve(['--token-file', '../short'])).rejects.toMatchObject({ code: 'USAGE' })
  await expect(serve(['--token-file', '../none'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const env = { GANTRY_SERVE_TOKEN: 'two words are not one' }
  const refused = serve([], env)
  await expect(refused).rejects.toMatchObject({ code: 'USAGE' })
  await expect(refused).rejects.not.toThrow('two words')
})

test('a missing repository is rejected before anything is opened', async () => {
  await expect(serve(['--repository', 'nowhere'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('the token of the store is created once, for this user only, and the flag overrides the environment', () => {
  const at = { env: {}, cwd: root, root: join(root, 'fresh') }
  const first = serveToken(at)
  expect(serveToken(at)).toEqual(first)
  expect(first).toMatchObject({ isGiven: false, where: join(root, 'fresh', 'serve-token') })
  expect(first.token).toMatch(/^[\w-]{32}$/)
  for (const name of ['serve-token', 'serve.key'])
    expect(statSync(join(root, 'fresh', name)).mode & 0o777).toBe(0o600)
  const env = { GANTRY_SERVE_TOKEN: 'another-token-of-the-variable' }
  expect(serveToken({ ...at, env })).toMatchObject({ token: env.GANTRY_SERVE_TOKEN, isGiven: true })
  expect(serveToken({ ...at, env, file: 'good' }).token).toBe('a-token-that-is-long-enough')
})
