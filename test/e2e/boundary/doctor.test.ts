import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runShell } from '../robustness/lab.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { everythingIn, modelScript } from './lab.ts'

interface Finding {
  readonly area: string
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly fix?: string
}

async function findings(
  project: TestProject,
  env: Record<string, string> = {},
  ...flags: string[]
): Promise<Readonly<Record<string, Finding>>> {
  const { code, stdout, stderr } = await gantry(project, ['doctor', '--json', ...flags], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const parsed = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return Object.fromEntries(parsed.findings.map((finding) => [finding.name, finding]))
}

/** A program that only prints its version. */
const telling = (version: string) => `#!/bin/sh\n[ "$1" = --version ] && echo '${version} (Claude Code)'\n`

describe('gantry doctor', () => {
  test('shows Gantry, the agents, the models and the sandboxes, and ends with 0 whatever it found', async () => {
    using project = makeProject()
    const { code, stdout, stderr } = await gantry(project, ['doctor'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const title of ['Gantry', 'Agents', 'Models Gantry itself can use', 'Sandbox engines'])
      expect(stdout).toMatch(new RegExp(`^${title}$`, 'm'))
    for (const agent of ['claude-code', 'claude-sdk', 'codex', 'copilot', 'gemini', 'opencode', 'builtin'])
      expect(stdout).toMatch(new RegExp(`^  (ok|!!|--)  ${agent} `, 'm'))
    for (const engine of ['docker', 'bubblewrap']) expect(stdout).toContain(engine)
    expect(stdout).toMatch(/^ok works {3}!! works only partly {3}-- not usable$/m)
    expect(stdout).not.toContain('\u001b')
  })

  test('says whether gantry verify and gantry task would find an agent.yaml, and what is wrong with it', async () => {
    using without = makeProject()
    expect((await findings(without))['agent.yaml']).toMatchObject({ status: 'missing', fix: 'gantry init' })
    const step = '    - { name: test, command: "true" }\n'
    using project = makeProject({
      'agent.yaml': `verification:\n  container_image: node:24\n  steps:\n${step}`,
    })
    const found = await findings(project)
    expect(found['agent.yaml']).toMatchObject({ area: 'gantry', status: 'ok' })
    expect(found['agent.yaml']?.detail).toMatch(/agent\.yaml: 1 step in node:24$/)
    using broken = makeProject({ 'agent.yaml': 'verification:\n  steps: []\n' })
    const wrong = (await findings(broken))['agent.yaml']
    expect(wrong?.status).toBe('missing')
    expect(wrong?.detail).toContain('container_image')
  })

  test('says that git is too old', async () => {
    using project = makeProject({ 'bin/git': '#!/bin/sh\necho git version 2.31.8\n' })
    chmodSync(join(project.dir, 'bin/git'), 0o755)
    const { git } = await findings(project, { PATH: `${join(project.dir, 'bin')}:${process.env.PATH}` })
    expect(git).toMatchObject({
      status: 'missing',
      detail: 'git 2.31.8 is too old: Gantry needs git 2.32 or newer',
      fix: 'Install a newer git, and put it first on the PATH.',
    })
  })

  test('names the command that installs an agent that is missing', async () => {
    using project = makeProject()
    const found = await findings(project, { PATH: '/usr/bin:/bin' })
    expect(found.codex).toMatchObject({
      area: 'agents',
      status: 'missing',
      fix: expect.stringMatching(/^npm install .*codex/),
    })
    expect(found['claude-code']?.detail).not.toContain('npm install')
  })

  test('finds an agent that is there, with its version and its place', async () => {
    using project = makeProject({ 'bin/claude': telling('2.1.325') })
    const path = `${project.path('bin')}:/usr/bin:/bin`
    const found = await findings(project, { PATH: path, ANTHROPIC_API_KEY: 'sk-ant-test-0123456789' })
    expect(found['claude-code']).toMatchObject({
      status: 'ok',
      detail: `2.1.325, ${project.path('bin/claude')}`,
    })
    const keyless = await findings(project, { PATH: path })
    expect(keyless['claude-code']?.status).toBe('lacking')
    expect(keyless['claude-code']?.detail).toContain('no model access: set ANTHROPIC_API_KEY')
  })

  test('shows for an outdated agent which versions work, and how to get one', async () => {
    using project = makeProject({ 'bin/claude': telling('1.0.3') })
    const found = await findings(project, { PATH: `${project.path('bin')}:/usr/bin:/bin` })
    expect(found['claude-code']?.status).toBe('missing')
    expect(found['claude-code']?.detail).toMatch(/1\.0\.3/)
    expect(found['claude-code']?.detail).toMatch(/2\.1\.112/)
    expect(found['claude-code']?.fix).toMatch(/^npm install/)
  })

  test('reports an agent that crashes when it is probed', async () => {
    using project = makeProject({ 'bin/claude': '#!/bin/sh\necho "no libc" >&2; exit 3\n' })
    const found = await findings(project, { PATH: `${project.path('bin')}:/usr/bin:/bin` })
    expect(found['claude-code']).toMatchObject({
      status: 'missing',
      detail: expect.stringContaining('no libc'),
    })
  })

  test('looks at the agents of gantry.yaml by their names', async () => {
    using project = makeProject({
      'gantry.yaml': {
        agents: {
          here: { driver: 'command', command: ['sh', '{prompt}'], version_command: ['echo', '7.8'] },
          gone: { driver: 'command', command: ['no-such-program', '{prompt}'] },
          keyed: { driver: 'command', command: ['sh', '{prompt}'], env: { KEY: `$\{MY_KEY}` } },
          acted: { driver: 'command', command: ['sh', '{prompt}'], model_script: 'model.yaml' },
          unacted: { driver: 'command', command: ['sh', '{prompt}'], model_script: 'nowhere.yaml' },
          worker: { driver: 'scripted', script: 'nowhere.yaml' },
        },
      },
      'model.yaml': modelScript('Hello.'),
    })
    const found = await findings(project)
    expect(found['gantry.yaml']).toMatchObject({ status: 'ok', detail: project.path('gantry.yaml') })
    expect(found['here (command)']).toMatchObject({ status: 'ok', detail: expect.stringContaining('7.8') })
    expect(found['gone (command)']).toMatchObject({
      status: 'missing',
      detail: expect.stringContaining('no-such-program'),
    })
    expect(found['keyed (command)']).toMatchObject({
      status: 'lacking',
      detail: expect.stringContaining('the variable MY_KEY is not set'),
    })
    expect((await findings(project, { MY_KEY: 'x' }))['keyed (command)']?.status).toBe('ok')
    expect(found['acted (command)']?.status).toBe('ok')
    expect(found['unacted (command)']).toMatchObject({
      status: 'lacking',
      detail: expect.stringContaining('nowhere.yaml'),
    })
    expect(found['worker (scripted)']?.status).toBe('missing')
  })

  test('does not ask for a key where a script answers', async () => {
    using project = makeProject({
      'bin/claude': telling('2.1.325'),
      'gantry.yaml': { agents: { acted: { driver: 'claude-code', model_script: 'model.yaml' } } },
      'model.yaml': modelScript('Hello.'),
    })
    const found = await findings(project, { PATH: `${project.path('bin')}:/usr/bin:/bin` })
    expect(found['acted (claude-code)']?.status).toBe('ok')
    expect(found['claude-code']).toBeUndefined()
  })

  test('shows which models can be used, and never shows a key', async () => {
    using project = makeProject()
    const none = await findings(project)
    expect(none.anthropic).toMatchObject({
      area: 'models',
      status: 'missing',
      detail: 'set ANTHROPIC_API_KEY',
    })
    expect(none.default).toMatchObject({
      status: 'missing',
      detail: expect.stringContaining('cannot proceed without model access'),
    })
    const keys = { ANTHROPIC_API_KEY: 'sk-ant-test-0123456789', OPENAI_API_KEY: 'sk-test-9876543210' }
    const some = await findings(project, keys)
    expect(some.anthropic).toMatchObject({ status: 'ok', detail: 'ANTHROPIC_API_KEY is set' })
    expect(some.default).toMatchObject({ status: 'ok', detail: expect.stringContaining('anthropic:') })
    const { stdout } = await gantry(project, ['doctor'], { env: keys })
    for (const key of Object.values(keys)) expect(JSON.stringify(some) + stdout).not.toContain(key)
  })

  test('hides a password in the address of a model', async () => {
    using project = makeProject()
    const env = { AGENT_LLM_BASE_URL: 'http://me:hunter2secret@127.0.0.1:9/v1', AGENT_LLM_MODEL: 'm' }
    const { stdout } = await gantry(project, ['doctor'], { env })
    expect(stdout).not.toContain('hunter2secret')
  })

  test('reports a mistake in gantry.yaml with its place, and checks the rest', async () => {
    using project = makeProject({ 'gantry.yaml': 'agents:\n  mine: { driver: comand }\n' })
    const found = await findings(project)
    expect(found['gantry.yaml']).toMatchObject({
      status: 'missing',
      detail: expect.stringContaining('gantry.yaml:2:'),
    })
    expect(found.git).toBeDefined()
    expect(found.docker).toBeDefined()
  })

  test('takes another configuration, which must be there', async () => {
    using project = makeProject({ 'other.yaml': { results_path: 'results' } })
    const found = await findings(project, { AGENT_ARTIFACT_DIR: '' }, '--config', 'other.yaml')
    expect(found.store?.detail).toBe(project.path('results'))
    const { code, stderr } = await gantry(project, ['doctor', '--config', 'nowhere.yaml'])
    expect(code).toBe(2)
    expect(stderr).toContain('nowhere.yaml')
  })

  test('works without HOME, and says what to do about a store that is not writable', async () => {
    using project = makeProject({ file: '' })
    const { code, stdout } = await runShell(project, 'exec env -u HOME -u AGENT_ARTIFACT_DIR $GANTRY doctor')
    expect(code).toBe(0)
    expect(stdout).toContain('.agent-artifacts')
    const found = await findings(project, { AGENT_ARTIFACT_DIR: project.path('file/store') })
    expect(found.store).toMatchObject({
      status: 'missing',
      detail: expect.stringContaining('is not writable'),
      fix: expect.stringContaining('AGENT_ARTIFACT_DIR'),
    })
  })

  test('changes nothing on disk, even when an agent writes into its HOME', async () => {
    using project = makeProject({
      'bin/claude': '#!/bin/sh\ntouch "$HOME/.claude.json"; echo 2.1.325\n',
      'gantry.yaml': { agents: { mine: { driver: 'command', command: ['sh', '{prompt}'] } } },
    })
    const around = `${project.dir}/..`
    const before = everythingIn(around)
    await findings(project, { PATH: `${project.path('bin')}:/usr/bin:/bin` })
    expect(everythingIn(around)).toBe(before)
  })

  test('wraps to a narrow terminal, but leaves commands whole', async () => {
    using project = makeProject()
    const inside = 'stty cols 50; PATH=/usr/bin:/bin $GANTRY doctor'
    const shown = await runShell(project, `script -qec '${inside}' /dev/null < /dev/null`, { TERM: 'xterm' })
    expect(shown.code).toBe(0)
    expect(shown.stdout).toContain('\u001b[')
    const lines = shown.stdout.replaceAll(/\u001b\[[\d;]*m|\r/g, '').split('\n')
    const long = lines.filter((line) => line.length > 50)
    expect(long.filter((line) => !/^ +(npm install|sudo|export|\/\S+$)/.test(line))).toEqual([])
    expect(lines.join('\n')).toMatch(/^ +npm install --global @openai\/codex@[\d.]+$/m)
    const plain = await runShell(project, `script -qec '${inside}' /dev/null < /dev/null`, { NO_COLOR: '1' })
    expect(plain.stdout).not.toContain('\u001b[')
  })

  test.each([['extra'], ['--jason']])('takes no %s', async (word) => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, ['doctor', word])
    expect(code).toBe(2)
    expect(stderr).toContain(word)
  })
})
