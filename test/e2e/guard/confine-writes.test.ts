import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hookProgram } from '../../support/program.ts'
import { fencesOf, readDocument } from '../support/documents.ts'
import { guardEnv } from '../support/hook-process.ts'
import { makeProject, type TestProject } from '../support/project.ts'

let project: TestProject
let scratch: string

beforeEach(() => {
  project = makeProject({
    'agent.yaml': 'verification: {}\n',
    'new.txt': '',
    'src/a.ts': '',
    '.github/x': '',
    'README.md': '',
  })
  scratch = join(project.home, 'scratch')
  mkdirSync(scratch)
  mkdirSync(project.path('.git'))
  symlinkSync(project.home, project.path('out'))
})
afterEach(() => project[Symbol.dispose]())

type Variables = Readonly<Record<string, string>>

/** The boundary of a task: the whole project and a scratch directory, with read-only git. */
const boundary = (): Variables => ({
  HARNESS_BOUNDARY_ENABLED: 'true',
  HARNESS_BOUNDARY_ALSO: scratch,
  HARNESS_BOUNDARY_REFUSED: 'agent.yaml,.github',
  HARNESS_BOUNDARY_GIT: 'read',
})

/** Runs the hook program once, for an event as it is installed: each has its own time limit. */
function hook(agent: string, payload: Readonly<Record<string, unknown>>, variables: Variables) {
  const child = spawn(process.execPath, [hookProgram, '--agent', agent, String(payload.hook_event_name)], {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      TMPDIR: scratch,
      ...guardEnv(project),
      ...variables,
    },
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  child.stdin.end(JSON.stringify(payload))
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((settle, fail) => {
    child.on('error', fail)
    child.on('close', (code) => settle({ code, ...said }))
  })
}

const common = () => ({ session_id: 's1', cwd: project.dir, hook_event_name: 'PreToolUse' })

const payloads = {
  'claude-code': (tool_name: string, tool_input: object) => ({
    ...common(),
    prompt_id: 'p1',
    tool_use_id: 't1',
    tool_name,
    tool_input,
  }),
  codex: (tool_name: string, tool_input: object) => ({ ...common(), turn_id: 'p1', tool_name, tool_input }),
} as const

type Agent = keyof typeof payloads

const patch = (path: string) => ({
  command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`,
})

describe.each(['claude-code', 'codex'] as const)(
  'a boundary in the environment applies to %s',
  (agent: Agent) => {
    const ask = (tool: string, input: object, variables = boundary()) =>
      hook(agent, payloads[agent](tool, input), variables)
    const quiet = { code: 0, stdout: '', stderr: '' }

    test('a command that writes outside is denied in the format of the agent', async () => {
      const { code, stdout, stderr } = await ask('Bash', { command: 'cd src && echo x > ../../x' })
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /^Gantry guard: `\.\.\/\.\.\/x` must not be written: it is outside the project; .*\(gantry guard explain d_[a-z\d]{16}\)$/s,
      )
      if (agent === 'codex') expect(stdout).toBe('')
      else expect(JSON.parse(stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    })

    test('writes inside and to additional directories pass silently', async () => {
      expect(await ask('Bash', { command: 'echo x > src/a.ts' })).toEqual(quiet)
      expect(await ask('Bash', { command: 'npm test > "$TMPDIR/log" 2>&1' })).toEqual(quiet)
    })

    test('links, refused names and git commands are denied too', async () => {
      for (const command of ['touch out/x', 'rm agent.yaml', 'echo x > .git/config', 'git commit -am x'])
        expect((await ask('Bash', { command })).code, command).toBe(2)
    })

    test('a project file cannot widen it', async () => {
      const open = { enabled: false, package: '', refused: [], git: 'all' }
      project.write({ 'harness.json': JSON.stringify({ boundary: open }) })
      expect((await ask('Bash', { command: 'git commit -am x' })).stderr).toContain('`git commit`')
      project.write({ 'harness.json': JSON.stringify({ boundary: { also: ['/'] } }) })
      expect((await ask('Bash', { command: 'ls' })).stderr).toContain(
        'boundary.also: only the user may set this',
      )
    })

    test('nothing is denied without the variable', async () => {
      const { HARNESS_BOUNDARY_ENABLED: _, ...rest } = boundary()
      for (const command of ['touch ../x', 'touch out/x', 'rm agent.yaml', 'git commit -am x'])
        expect(await ask('Bash', { command }, rest), command).toEqual(quiet)
    })
  },
)

test.each([
  ['claude-code', 'Write', { content: 'x' }, 'file_path'],
  ['claude-code', 'Edit', { old_string: 'a', new_string: 'b' }, 'file_path'],
  ['claude-code', 'mcp__fs__write_file', { content: 'x' }, 'path'],
] as const)('%s: the tool %s is judged by its path', async (agent, tool, input, key) => {
  const codeAt = async (path: string) =>
    (await hook(agent, payloads[agent](tool, { ...input, [key]: path }), boundary())).code
  expect(await codeAt(project.path('src/a.ts'))).toBe(0)
  expect(await codeAt(join(project.home, 'x'))).toBe(2)
  expect(await codeAt(project.path('out/x'))).toBe(2)
})

test('codex: a patch is judged by its paths', async () => {
  const codeAt = async (path: string) =>
    (await hook('codex', payloads.codex('apply_patch', patch(path)), boundary())).code
  expect(await codeAt('src/b.ts')).toBe(0)
  expect(await codeAt('../x')).toBe(2)
  expect(await codeAt('agent.yaml')).toBe(2)
})

test('a package and a root apply whatever directory the agent reports', async () => {
  project.write({ 'packages/one/x': '', 'packages/two/x': '' })
  const variables = {
    ...boundary(),
    HARNESS_BOUNDARY_PACKAGE: 'packages/one',
    HARNESS_BOUNDARY_ROOT: project.dir,
  }
  const codeOf = async (command: string, cwd = project.dir) =>
    (await hook('codex', { ...payloads.codex('Bash', { command }), cwd }, variables)).code
  expect(await codeOf('touch packages/one/y')).toBe(0)
  expect(await codeOf('touch packages/two/y')).toBe(2)
  expect(await codeOf('touch y', project.home)).toBe(2)
  expect(await codeOf(`touch ${project.dir}/packages/one/y`, project.home)).toBe(0)
})

test('a session start lists where the agent may write', async () => {
  const start = { session_id: 's1', cwd: project.dir, hook_event_name: 'SessionStart', source: 'startup' }
  const reply = await hook('claude-code', start, boundary())
  expect(reply.stdout).toContain(`Write limits: tools write in the project and in ${scratch}, nowhere else.`)
  expect(reply.stdout).toContain('agent.yaml, .github must not change.')
  expect((await hook('claude-code', { ...start, session_id: 's2' }, {})).stdout).not.toContain('Boundary:')
})

describe('the page about the guard', () => {
  const marked = (mark: string): readonly string[] =>
    fencesOf(readDocument('docs/guard.md'))
      .filter((fence) => fence.language === 'text' && fence.mark === mark)
      .flatMap(({ text }) => text.trimEnd().split('\n'))
  const codeOf = async (command: string) =>
    (await hook('claude-code', payloads['claude-code']('Bash', { command }), boundary())).code

  test.each(marked('denied-inside'))('is right that this is denied: %s', async (command) => {
    expect(await codeOf(command)).toBe(2)
  })

  test.each(marked('allowed-inside'))('is right that this is allowed: %s', async (command) => {
    expect(await codeOf(command)).toBe(0)
  })
})
