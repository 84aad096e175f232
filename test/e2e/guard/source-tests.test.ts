import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { claudeCodeCodec } from '../../../src/agents/claude-code/hooks.ts'
import { answerHook } from '../../../src/guard/hook/answer-hook.ts'
import { settingTable } from '../../../src/guard-engine/settings/setting-table.ts'
import { pluginFiles, writeGuardPlugin } from '../../../src/guard-install/guard-plugin.ts'
import { quickId } from '../../../src/io/quick-random.ts'
import { hookProgram } from '../../support/program.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

/*
 * The shell tests of the harness that this guard replaces, one group per script, with the payloads of the script. If a script tested something that agents do not do, or a gate that did not work, the name says "corrected".
 */

const plugin = join(import.meta.dirname, '../../../plugins/gantry-guard')
/** The tools of the payloads, so that the machine needs none of them. */
const tools = makeProject({ pytest: '#!/bin/sh\n', ruff: '#!/bin/sh\n' })
afterAll(() => tools[Symbol.dispose]())

interface Answer {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What the hook program does after it has read its input, in this process: no Node starts. */
async function hook(
  project: TestProject,
  event: string,
  fields: object = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { reply } = await answerHook(
    {
      agent: 'claude-code',
      event,
      agentVersion: null,
      env: { ...hookEnv(project), ...env },
      payload: Buffer.from(payloadOf(project, event, fields)),
      eventId: `e_${quickId(16)}`,
    },
    { node: process.execPath, hookBin: hookProgram, edition: 'test' },
  )
  return { code: reply.exitCode, stdout: reply.stdout, stderr: reply.stderr }
}

function hookEnv(project: TestProject): Record<string, string> {
  return {
    PATH: `${tools.dir}:${process.env.PATH ?? ''}`,
    HOME: project.home,
    GANTRY_GUARD_HOME: join(project.store, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
}

function payloadOf(project: TestProject, event: string, fields: object): string {
  const session = { session_id: 'test-session-123', prompt_id: 'p1' }
  return JSON.stringify({ ...session, cwd: project.dir, hook_event_name: event, ...fields })
}

const passes = { code: 0, stdout: '', stderr: '' }

function start(
  project: TestProject,
  source = 'startup',
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return hook(project, 'SessionStart', { source }, env)
}

function edited(
  project: TestProject,
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const tool_input = { file_path: file, old_string: 'a', new_string: 'b' }
  return hook(
    project,
    'PostToolUse',
    { tool_name: 'Edit', tool_input, tool_response: { success: true } },
    env,
  )
}

/** Changes the file, then sends the hook event. */
function writes(project: TestProject, file: string, content: string): Promise<Answer> {
  project.write({ [file]: content })
  const tool_input = { file_path: project.path(file), content }
  return hook(project, 'PostToolUse', { tool_name: 'Write', tool_input, tool_response: { type: 'update' } })
}

let calls = 0

/** A command before and after, with the result as Claude Code reports it. */
async function ran(project: TestProject, command: string, output: string, exitCode = 0): Promise<Answer> {
  calls += 1
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `toolu_${calls}` }
  const before = await hook(project, 'PreToolUse', call)
  if (before.code !== 0) return before
  if (exitCode !== 0)
    return hook(project, 'PostToolUseFailure', { ...call, error: `Exit code ${exitCode}\n${output}` })
  return hook(project, 'PostToolUse', {
    ...call,
    tool_response: { stdout: output, stderr: '', interrupted: false, isImage: false },
  })
}

function stops(project: TestProject, active = false): Promise<Answer> {
  return hook(project, 'Stop', { stop_hook_active: active, last_assistant_message: 'Done!' })
}

function contextOf({ stdout }: Pick<Answer, 'stdout'>): string {
  return JSON.parse(stdout).hookSpecificOutput.additionalContext
}

function view(project: TestProject, name: string): Record<string, unknown> {
  return JSON.parse(project.read(`.harness/${name}`))
}

function status(project: TestProject): unknown {
  return view(project, 'state.json').verification_status
}

function traceLines(project: TestProject): readonly string[] {
  return project.read('.harness/trace-log.jsonl').trimEnd().split('\n')
}

const agentsMd = '# Verification Commands\n- `pytest tests/`\n'

describe('test-libs.sh', () => {
  test('the threshold is set and a number', () => {
    expect(settingTable['middleware.loop_detection.edit_threshold'].initial).toBeGreaterThan(0)
  })

  test('the state files exist after the first event; corrected: the trace starts with its first line', async () => {
    using project = makeProject()
    await start(project)
    expect(view(project, 'state.json').phase).toBe('executing')
    expect(view(project, 'edit-tracker.json')).toEqual({})
    await edited(project, '/path/to/file.ts')
    expect(traceLines(project)).toHaveLength(1)
  })

  test('three edits are counted and are not a loop, the fifth is', async () => {
    using project = makeProject()
    for (let count = 1; count <= 3; count += 1)
      expect(await edited(project, '/path/to/file.ts')).toEqual(passes)
    expect(view(project, 'edit-tracker.json')).toEqual({ '/path/to/file.ts': 3 })
    expect(await edited(project, '/path/to/file.ts')).toEqual(passes)
    expect(contextOf(await edited(project, '/path/to/file.ts'))).toContain('loop')
  })

  test('corrected: state.json is a view, and changing it decides nothing', async () => {
    using project = makeProject({ 'AGENTS.md': agentsMd })
    await start(project)
    await writes(project, 'app.py', 'x = 1\n')
    const all = { tests_run: true, tests_passed: true, lint_run: true, lint_passed: true }
    writeFileSync(project.path('.harness/state.json'), JSON.stringify({ verification_status: all }))
    expect(await stops(project)).toMatchObject({ code: 2 })
    expect(status(project)).toMatchObject({ tests_run: false, tests_passed: false })
  })
})

describe('test-session-start.sh', () => {
  test('a session starts with the tree, the commands and the next task, and the phase is kept', async () => {
    using project = makeProject({
      'src/app.ts': '',
      'tests/test_app.py': '',
      'AGENTS.md': agentsMd,
      'IMPLEMENTATION_PLAN.md': '- [ ] Task 1: Do something\n- [x] Task 2: Already done\n',
    })
    const answer = await start(project)
    expect(answer.code).toBe(0)
    expect(JSON.parse(answer.stdout).hookSpecificOutput.hookEventName).toBe('SessionStart')
    for (const word of ['## Project Structure', 'src/app.ts', 'pytest tests/', 'Task 1: Do something'])
      expect(contextOf(answer)).toContain(word)
    expect(view(project, 'state.json')).toMatchObject({
      session_id: 'test-session-123',
      phase: 'executing',
      current_task: 'Task 1: Do something',
      tasks_completed: 1,
      tasks_remaining: 1,
      context_injected: true,
    })
  })
})

describe('test-post-tool-use.sh', () => {
  test('edits are counted, calls are logged, and past the threshold every edit gets a warning', async () => {
    using project = makeProject()
    await edited(project, '/test/src/app.ts')
    expect(view(project, 'edit-tracker.json')).toEqual({ '/test/src/app.ts': 1 })
    expect(traceLines(project)).toHaveLength(1)
    for (let count = 2; count <= 6; count += 1) await edited(project, '/test/src/app.ts')
    const seventh = contextOf(await edited(project, '/test/src/app.ts'))
    expect(seventh).toContain('reconsider')
    expect(seventh).toContain('7 edits')
  })

  test('reading is not an edit', async () => {
    using project = makeProject()
    const tool_input = { file_path: '/test/README.md' }
    const fields = { tool_name: 'Read', tool_input, tool_response: { content: 'hello' } }
    expect(await hook(project, 'PostToolUse', fields)).toEqual(passes)
    expect(view(project, 'edit-tracker.json')).toEqual({})
    expect(traceLines(project)).toHaveLength(1)
  })
})

describe('test-stop-checklist.sh', () => {
  test('a stop without verification exits 2 and names what is open; corrected: only after a change', async () => {
    using project = makeProject({
      'AGENTS.md': agentsMd,
      'IMPLEMENTATION_PLAN.md': '- [ ] Task 1: pending\n',
    })
    await start(project)
    expect(await stops(project)).toEqual(passes)
    await writes(project, 'app.py', 'x = 1\n')
    const { code, stdout, stderr } = await stops(project)
    expect(code).toBe(2)
    expect(JSON.parse(stdout).decision).toBe('block')
    for (const words of ['pytest tests/', 'not run', '1 open task', 'Task 1: pending'])
      expect(stderr).toContain(words)
  })

  test('corrected: stop_hook_active passes nothing; the second refusal is the last, and the turn ends CAPPED', async () => {
    using project = makeProject({ 'AGENTS.md': agentsMd })
    await start(project)
    await writes(project, 'app.py', 'x = 1\n')
    for (let count = 1; count <= 2; count += 1) {
      const { code, stderr } = await stops(project, count > 1)
      expect(code).toBe(2)
      expect(stderr).toContain(`refusal ${count} of 2`)
    }
    const { code, stdout } = await stops(project, true)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain('CAPPED after 2 refusals')
  })

  test('with verified and finished work, the agent may stop', async () => {
    using project = makeProject({ 'AGENTS.md': agentsMd, 'IMPLEMENTATION_PLAN.md': '- [x] Task 1: done\n' })
    await start(project)
    await writes(project, 'app.py', 'x = 1\n')
    await ran(project, 'pytest tests/', '5 passed in 0.1s')
    expect(await stops(project)).toEqual(passes)
    expect((await explained(project)).decision.notes).toMatchObject([{ kind: 'ended', state: 'VERIFIED' }])
  })
})

describe('test-pre-compact.sh', () => {
  test('corrected: nothing is added before a compaction; the next session start has task, progress and TDD phase', async () => {
    const done = ['1', '2'].map((name) => `- [x] Task ${name}\n`)
    const open = ['3: Add authentication', '4', '5', '6', '7'].map((name) => `- [ ] Task ${name}\n`)
    using project = makeProject({
      'AGENTS.md': '- `pytest tests/`\n',
      'IMPLEMENTATION_PLAN.md': [...done, ...open].join(''),
    })
    await start(project)
    await writes(project, 'tests/test_auth.py', 'def test_auth():\n    assert auth()\n')
    await ran(project, 'pytest tests/', '1 failed in 0.1s', 1)
    expect(view(project, 'state.json').tdd_phase).toBe('red')
    await writes(project, 'auth.py', 'def auth():\n    return True\n')
    await ran(project, 'pytest tests/', '1 passed in 0.1s')
    expect(await hook(project, 'PreCompact', { trigger: 'auto' })).toEqual(passes)
    const context = contextOf(await start(project, 'compact'))
    for (const words of ['Harness State', 'Task 3: Add authentication', '2 completed, 5 remaining', 'green'])
      expect(context).toContain(words)
    expect(view(project, 'state.json').last_compacted_at).toMatch(/^\d{4}-/)
  })
})

describe('test-pre-tool-use.sh', () => {
  test('a write to .env is denied; corrected: with exit 2 in addition to the JSON, so a broken pipe cannot undo it', async () => {
    using project = makeProject()
    const tool_input = { file_path: project.path('.env'), content: 'SECRET=abc' }
    const { code, stdout, stderr } = await hook(project, 'PreToolUse', { tool_name: 'Write', tool_input })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
    expect(stderr).toContain('.env')
  })

  test('corrected: the same through the shell or a notebook, and for a file protected by the settings', async () => {
    using project = makeProject({
      'harness.json': '{"middleware":{"file_protection":{"protected_patterns":[".env","*.lock"]}}}',
    })
    const attempts = [
      { tool_name: 'Bash', tool_input: { command: 'echo SECRET=abc > .env' } },
      { tool_name: 'NotebookEdit', tool_input: { notebook_path: project.path('.env'), new_source: '' } },
      { tool_name: 'Edit', tool_input: { file_path: project.path('yarn.lock') } },
    ]
    for (const attempt of attempts)
      expect(await hook(project, 'PreToolUse', attempt)).toMatchObject({ code: 2 })
  })

  test('an ordinary write and an ordinary command pass', async () => {
    using project = makeProject()
    const write = { file_path: project.path('src/app.ts'), content: 'console.log(1)' }
    expect(await hook(project, 'PreToolUse', { tool_name: 'Write', tool_input: write })).toEqual(passes)
    const bash = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
    expect(await hook(project, 'PreToolUse', bash)).toEqual(passes)
  })
})

describe('test-verification-tracking.sh', () => {
  const both = '- `pytest tests/ -v`\n- `ruff check .`\n'

  test('a passing test run and a passing lint run set their flags; corrected: after the run, for declared commands', async () => {
    using project = makeProject({ 'AGENTS.md': both })
    await start(project)
    expect(status(project)).toMatchObject({ tests_run: false, tests_passed: false })
    await ran(project, 'pytest tests/ -v', '5 passed')
    expect(status(project)).toMatchObject({ tests_run: true, tests_passed: true, lint_run: false })
    await ran(project, 'ruff check .', 'All checks passed')
    expect(status(project)).toMatchObject({ lint_run: true, lint_passed: true })
  })

  test('corrected: a failing run resets the flag, and a later edit makes a passed one stale', async () => {
    using project = makeProject({ 'AGENTS.md': both })
    await start(project)
    await ran(project, 'pytest tests/ -v', '5 passed')
    await ran(project, 'pytest tests/ -v', '1 failed, 4 passed', 1)
    expect(status(project)).toMatchObject({ tests_run: true, tests_passed: false })
    await ran(project, 'pytest tests/ -v', '5 passed')
    await ran(project, 'ruff check .', 'All checks passed')
    await writes(project, 'app.py', 'x = 2\n')
    expect(status(project)).toMatchObject({ tests_passed: false })
    expect((await stops(project)).stderr).toContain('stale')
  })

  test.each([
    'echo pytest tests/ -v',
    'pytest tests/ -v || true',
    'pytest tests/ -v | tail -3',
    'git commit -m "fix pytest tests/ -v"',
    'pytest tests/ -v; echo ok',
  ])('corrected: `%s` is not a verification', async (command) => {
    using project = makeProject({ 'AGENTS.md': both })
    await start(project)
    await ran(project, command, '5 passed')
    expect(status(project)).toMatchObject({ tests_passed: false })
  })
})

describe('test-hooks-json.sh', () => {
  test('the five events are registered; corrected: below the key `hooks`, without which no hook is loaded', () => {
    const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'))
    expect(Object.keys(hooks)).toEqual(
      expect.arrayContaining(['SessionStart', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact']),
    )
    expect(Object.keys(hooks)).toEqual(
      expect.arrayContaining(['PostToolUseFailure', 'SubagentStart', 'SubagentStop', 'ConfigChange']),
    )
  })

  test('corrected: instead of five scripts, the plugin contains one program, and it answers', async () => {
    using project = makeProject({ 'AGENTS.md': agentsMd })
    const directory = project.path('plugin')
    const files = pluginFiles(claudeCodeCodec.events, { node: process.execPath, hookBin: hookProgram })
    writeGuardPlugin(directory, files, { dryRun: false })
    const { hooks } = JSON.parse(project.read('plugin/hooks/hooks.json'))
    const [{ command, args = [] }] = hooks.SessionStart[0].hooks
    const argv = args.map((word: string) => word.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/, directory))
    const { stdout } = spawnSync(command.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/, directory), argv, {
      cwd: project.dir,
      env: hookEnv(project),
      input: payloadOf(project, 'SessionStart', { source: 'startup' }),
      encoding: 'utf8',
    })
    expect(contextOf({ stdout })).toContain('pytest tests/')
  })
})

describe('test-thin-prompt.sh', () => {
  test('the prompt of ralph is short and leaves enforcement to the hooks', () => {
    const text = readFileSync(join(plugin, 'agents/ralph.md'), 'utf8')
    expect(text.split('\n').length).toBeLessThan(200)
    for (const word of [/TDD/, /IMPLEMENTATION_PLAN/, /AGENTS\.md/, /red.*green.*refactor/i, /hook/i])
      expect(text).toMatch(word)
    expect(text).not.toContain('FORBIDDEN')
  })
})

/** Ten calls of the script: six edits of one file, two test runs, a read and a write. */
const sampleTrace = [
  ['Read', { file_path: '/src/app.ts' }],
  ['Edit', { file_path: '/src/app.ts' }],
  ['Bash', { command: 'pytest tests/' }],
  ...Array.from({ length: 5 }, () => ['Edit', { file_path: '/src/app.ts' }] as const),
  ['Bash', { command: 'npm test' }],
  ['Write', { file_path: '/src/utils.ts' }],
].map(([tool, input], index) =>
  JSON.stringify({ timestamp: `2026-02-19T10:00:${10 + index}Z`, tool, input, result: 'success' }),
)

describe('test-analyze-trace.sh', () => {
  test('ten calls are reported with total, hot file, loop and verification runs', async () => {
    using project = makeProject({ '.harness/trace-log.jsonl': `${sampleTrace.join('\n')}\n` })
    const { code, stdout } = await gantry(project, ['guard', 'trace', '.harness/trace-log.jsonl'])
    expect(code).toBe(0)
    for (const word of [/\b10\b/, /app\.ts/, /loop/i, /pytest tests\//, /npm test/])
      expect(stdout).toMatch(word)
  })

  test('a missing trace is an error', async () => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, ['guard', 'trace', 'nothing.jsonl'])
    expect(code).not.toBe(0)
    expect(stderr).toContain('nothing.jsonl')
  })
})

describe('test-integration.sh', () => {
  const plan =
    '# Plan\n- [ ] Task 1: Create hello module\n- [ ] Task 2: Add greeting\n- [x] Task 3: Already done\n'

  test('a whole session, from its start to its verified end, and its trace', async () => {
    using project = makeProject({
      'src/app.ts': 'export {}\n',
      'AGENTS.md': '# Verification Commands\n- `sh test.sh`\n',
      'test.sh': 'true\n',
      'IMPLEMENTATION_PLAN.md': plan,
    })
    const context = contextOf(await start(project))
    expect(context).toContain('Project Structure')
    expect(context).toContain('Task 1')
    const tool_input = { file_path: project.path('.env'), content: 'SECRET=x' }
    expect((await hook(project, 'PreToolUse', { tool_name: 'Write', tool_input })).stdout).toContain('deny')
    for (let count = 1; count <= 6; count += 1) await edited(project, '/src/app.ts')
    expect(contextOf(await edited(project, '/src/app.ts'))).toContain('reconsider')
    await writes(project, 'src/app.ts', 'export const hello = 1\n')
    expect(await stops(project)).toMatchObject({ code: 2 })
    await writes(project, 'IMPLEMENTATION_PLAN.md', plan.replaceAll('[ ]', '[x]'))
    await ran(project, 'sh test.sh', '')
    const summary = expect.stringMatching(/this session: 1 call denied, 1 stop refused.*ended VERIFIED/)
    expect(await stops(project, true)).toMatchObject({ code: 0, stdout: summary })
    expect(await hook(project, 'PreCompact', { trigger: 'auto' })).toEqual(passes)
    expect(contextOf(await start(project, 'compact'))).toContain('Harness State')
    const { stdout } = await gantry(project, ['guard', 'trace', '.harness/trace-log.jsonl'])
    expect(stdout).toMatch(/trace/i)
    expect(traceLines(project).length).toBeGreaterThan(8)
  })

  test('corrected: `echo "tests pass"` always succeeds, so declaring it verifies nothing', async () => {
    using project = makeProject({ 'AGENTS.md': '# Verification Commands\n- `echo "tests pass"`\n' })
    await start(project)
    await writes(project, 'hello.py', 'x = 1\n')
    await ran(project, 'echo "tests pass"', 'tests pass')
    const { code, stderr } = await stops(project)
    expect(code).toBe(2)
    expect(stderr).toContain('these always succeed')
  })
})

describe('bugs of the scripts that their tests missed', () => {
  test('a flag that is false in the file is off', async () => {
    using project = makeProject({
      'harness.json':
        '{"middleware":{"file_protection":{"enabled":false},"context_injection":{"enabled":false}}}',
    })
    expect(await start(project)).toEqual(passes)
    const tool_input = { file_path: project.path('.env'), content: 'A=1' }
    expect(await hook(project, 'PreToolUse', { tool_name: 'Write', tool_input })).toEqual(passes)
  })

  test('the environment overrides the file', async () => {
    using project = makeProject({ 'harness.json': '{"middleware":{"loop_detection":{"edit_threshold":9}}}' })
    const env = { HARNESS_LOOP_THRESHOLD: '2', HARNESS_STATE_DIR: 'elsewhere' }
    expect(contextOf(await start(project, 'startup', env))).toContain('2 or more edits')
    await edited(project, '/src/app.ts', env)
    expect(contextOf(await edited(project, '/src/app.ts', env))).toContain('reconsider')
    expect(existsSync(project.path('elsewhere/state.json'))).toBe(true)
    expect(existsSync(project.path('.harness'))).toBe(false)
  })

  test('a fresh plan, a finished plan and a title with quotes work', async () => {
    using project = makeProject({ 'IMPLEMENTATION_PLAN.md': '- [ ] Say "hello"; $(touch x) `y`\n' })
    expect(contextOf(await start(project))).toContain('Say "hello"')
    expect(view(project, 'state.json')).toMatchObject({
      tasks_remaining: 1,
      current_task: 'Say "hello"; $(touch x) `y`',
    })
    project.write({ 'IMPLEMENTATION_PLAN.md': '- [x] All done\n' })
    expect(await start(project, 'resume')).toMatchObject({ code: 0, stderr: '' })
    expect(view(project, 'state.json')).toMatchObject({ tasks_completed: 1, tasks_remaining: 0 })
  })

  test('a large project is listed by its first hundred entries', async () => {
    using project = makeProject()
    mkdirSync(project.path('src'))
    for (let count = 0; count < 3000; count += 1) writeFileSync(project.path(`src/file-${count}.ts`), '')
    const answer = await start(project)
    expect(answer).toMatchObject({ code: 0, stderr: '' })
    const entries = contextOf(answer).match(/^src\/file-\d+\.ts$/gm) ?? []
    expect(entries.length).toBeGreaterThan(50)
    expect(entries.length).toBeLessThanOrEqual(100)
  })

  test('twenty edits at once count as twenty edits', async () => {
    using project = makeProject()
    await start(project)
    const answers = await Promise.all(Array.from({ length: 20 }, () => edited(project, '/src/app.ts')))
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 0))
    expect(view(project, 'edit-tracker.json')).toEqual({ '/src/app.ts': 20 })
    expect(traceLines(project)).toHaveLength(20)
  })

  test('the gate works the same from a subdirectory of the project', async () => {
    using project = makeProject({ 'AGENTS.md': agentsMd, 'sub/x.py': '' })
    const env = { CLAUDE_PROJECT_DIR: project.dir }
    await start(project, 'startup', env)
    await writes(project, 'sub/x.py', 'x = 1\n')
    expect(
      await hook(project, 'Stop', { cwd: project.path('sub'), stop_hook_active: false }, env),
    ).toMatchObject({ code: 2 })
    expect(existsSync(project.path('sub/.harness'))).toBe(false)
  })

  test('an invalid payload blocks the tool', async () => {
    using project = makeProject()
    const { code, stderr } = await hook(
      project,
      'PreToolUse',
      { cwd: 7 },
      { PWD: '', CLAUDE_PROJECT_DIR: '' },
    )
    expect(code).toBe(2)
    expect(stderr).toContain('the guard itself failed')
  })
})

async function explained(project: TestProject): Promise<{ decision: { notes: unknown } }> {
  const env = { GANTRY_GUARD_HOME: join(project.store, 'guard') }
  return JSON.parse((await gantry(project, ['guard', 'explain', 'latest', '--json'], { env })).stdout)
}
