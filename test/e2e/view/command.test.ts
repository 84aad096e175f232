import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../src/cli/main.ts'
import { exportedName } from '../../../src/core/exported-name.ts'
import { gantry, gantryTest, startGantry } from '../support/gantry.ts'
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

test('an exported copy hides personal data and what the project hides in all its files and their names', async () => {
  const agent = { driver: 'command', command: ['sh', './good.sh'], output: 'events' }
  const config = { agents: { 'acme-7': agent }, scenarios: ['scenarios/*.yaml'], fixtures_path: 'fixtures' }
  const project = viewProject({
    'gantry.yaml': config,
    'good.sh': `echo '{"event":"message","role":"assistant","text":"mail jane@example.com, ls /home/jane/acme-1"}'
echo 'jane@example.com no event in /home/jane of acme-2'
mkdir -p home/acme-3 && echo one > acme-4.txt && echo two > acme-5.txt && echo acme-6 > home/acme-3/x\n`,
    'scenarios/first.yaml': {
      name: 'acme-8',
      description: 'For jane@example.com.',
      tags: ['acme-9', 'plain'],
      target: { binary: 'true', env: { PLACE: '/home/jane/acme-10' } },
      template_folder: 'template',
      task: { prompt: 'Mail jane@example.com from /home/jane about acme-11.' },
      evaluation: { gates: [{ type: 'file_contains', path: 'acme-4.txt', substring: 'one' }] },
    },
    'fixtures/template/acme-12/of.txt': 'jane@example.com',
  })
  const runs = []
  for (const only of ['first', 'second'])
    runs.push(await gantryTest(project, [`scenarios/${only}.yaml`, '--agent', 'acme-7']))
  // Only now, because a run hides the patterns of its project itself.
  writeFileSync(project.path('gantry.yaml'), JSON.stringify({ ...config, redact: ['acme-.*', '[0-9]{6}'] }))
  const ids = runs.map(({ run_id }) => run_id)
  mkdirSync(join(runs[0]?.run_dir ?? '', 'logs'), { recursive: true })
  writeFileSync(join(runs[0]?.run_dir ?? '', 'logs/acme-13.log'), 'jane@example.com in acme-14')
  const { code, stderr } = await startGantry(project, ['view', '--export', 'report', ...ids]).ended
  expect(code, stderr).toBe(0)
  const data = project.path('report/data')
  const files = readdirSync(data, { recursive: true }).map(String)
  const personal = /jane|acme/i
  for (const file of files.filter((file) => statSync(join(data, file)).isFile()))
    expect(`${file}\n${readFileSync(join(data, file), 'utf8')}`).not.toMatch(personal)
  const read = (address: string) => readFileSync(join(data, exportedName(address)), 'utf8')
  const [run] = ids
  const { trials } = JSON.parse(read(`/v1/runs/${run}/trials`))
  expect(trials).toMatchObject([{ run_id: run, tags: '["[REDACTED]","plain"]', case: '[REDACTED]' }])
  const at = `/v1/runs/${run}/trials/${trials[0].trial_id}`
  const { changes, record, scenario } = JSON.parse(read(at))
  expect(record).toMatchObject({ id: trials[0].trial_id, verdict: 'pass' })
  expect(scenario.text).toContain('[REDACTED]')
  // The names are still different, and lead to their files.
  const diffs = changes.map(({ path }: { path: string }) =>
    read(`${at}/diff?${new URLSearchParams({ path })}`),
  )
  expect(diffs).toEqual([/one/, /two/, /REDACTED/].map((text) => expect.stringMatching(text)))
})

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
