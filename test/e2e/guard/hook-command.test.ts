import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gantryHook } from '../support/hook-process.ts'
import { makeProject, type TestProject } from '../support/project.ts'

let project: TestProject

beforeEach(() => {
  project = makeProject({ 'AGENTS.md': '## Verification\n\n- `sh test.sh`\n', 'test.sh': 'exit 0\n' })
})
afterEach(() => project[Symbol.dispose]())

type Payload = Readonly<Record<string, unknown>>

/** A command before it runs, as each agent sends it to its hooks. */
const beforeCommand: Readonly<Record<string, (command: string) => { argv?: string[]; payload: Payload }>> = {
  'claude-code': (command) => ({
    payload: claude('PreToolUse', { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command } }),
  }),
  codex: (command) => ({
    payload: { ...claude('PreToolUse', { tool_name: 'Bash', tool_input: { command } }), turn_id: 'p1' },
  }),
  gemini: (command) => ({
    payload: claude('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command } }),
  }),
  copilot: (command) => ({
    argv: ['preToolUse'],
    payload: {
      sessionId: 's1',
      cwd: project.dir,
      toolName: 'bash',
      toolArgs: JSON.stringify({ command }),
    },
  }),
  cursor: (command) => ({
    payload: {
      conversation_id: 's1',
      workspace_roots: [project.dir],
      hook_event_name: 'preToolUse',
      tool_name: 'Shell',
      tool_input: { command },
    },
  }),
  opencode: (command) => ({
    payload: {
      hook: 'tool.execute.before',
      sessionID: 's1',
      directory: project.dir,
      tool: 'bash',
      args: { command },
    },
  }),
}

function claude(event: string, fields: Payload = {}): Payload {
  return { session_id: 's1', prompt_id: 'p1', cwd: project.dir, hook_event_name: event, ...fields }
}

function hook(agent: string, payload: Payload | string, argv: readonly string[] = []) {
  return gantryHook(project, [...argv, '--agent', agent], payload)
}

function ask(agent: string, command: string) {
  const { argv, payload } = beforeCommand[agent]?.(command) ?? { payload: {} }
  return hook(agent, payload, argv)
}

const reason = expect.stringMatching(
  /^Gantry guard: `\.env` is protected and must not be modified \(pattern `\.env`\)\.[\s\S]*\(gantry guard explain d_[a-z\d]{16}\)$/,
)

describe('a change of a protected file is denied in the format of', () => {
  const answers: Readonly<Record<string, unknown>> = {
    'claude-code': {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: reason,
      },
    },
    gemini: { decision: 'deny', reason },
    copilot: { permissionDecision: 'deny', permissionDecisionReason: reason },
    cursor: { permission: 'deny', user_message: reason, agent_message: reason },
    opencode: { deny: reason },
  }

  test.each(Object.entries(answers))('%s, on standard output and by exit code 2', async (agent, answer) => {
    const { stdout, stderr, code } = await ask(agent, 'echo A=1 > .env')
    expect(JSON.parse(stdout)).toEqual(answer)
    expect(stdout).not.toContain('\n')
    expect({ code, stderr }).toEqual({ code: 2, stderr: reason })
    expect(existsSync(project.path('.env'))).toBe(false)
  })

  test('codex, which reads only standard error', async () => {
    expect(await ask('codex', 'echo A=1 > .env')).toEqual({ code: 2, stdout: '', stderr: reason })
  })
})

test.each(Object.keys(beforeCommand))('a harmless command passes silently in %s', async (agent) => {
  // Cursor treats an empty answer as none, and would block.
  const stdout = agent === 'cursor' ? '{}' : ''
  expect(await ask(agent, 'ls src')).toEqual({ code: 0, stdout, stderr: '' })
})

describe('what cannot be judged is blocked with a reason', () => {
  test.each([
    ['a payload that is no JSON', '{"session_id": "s1"', 'the payload is not one JSON value'],
    ['two payloads', '{}{}', 'the payload is not one JSON value'],
    ['no payload', '', 'the agent sent its hook an empty payload'],
    ['a payload that is not an object', '[1]', 'is not a JSON object'],
    ['a payload without its event', '{"cwd": "/"}', 'does not name its event'],
  ])('%s', async (_, payload, why) => {
    const { code, stdout, stderr } = await hook('claude-code', payload)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`the guard itself failed: `)
    expect(stderr).toContain(why)
  })

  test('with the event on the command line, as an answer the agent can read', async () => {
    const { code, stdout } = await hook('claude-code', '{bad', ['PreToolUse'])
    expect(JSON.parse(stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(code).toBe(2)
  })

  test('a payload without a directory, because every relative path would be a guess', async () => {
    const payload = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      cwd: '',
    }
    const { code, stderr } = await gantryHook(project, ['--agent', 'gemini', 'BeforeTool'], payload)
    // The working directory of the process is used instead.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('an unknown agent', async () => {
    const { code, stdout, stderr } = await hook('nobody', claude('PreToolUse'))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('unknown agent nobody')
  })

  test('a command line without an agent', async () => {
    const { code, stderr } = await gantryHook(project, [], claude('PreToolUse'))
    expect(code).toBe(2)
    expect(stderr).toContain("required option '--agent <name>' not specified")
  })
})

test.each(['claude-code', 'codex', 'gemini'])(
  'an event %s does not know passes without a word',
  async (agent) => {
    expect(await hook(agent, claude('Invented'))).toEqual({ code: 0, stdout: '', stderr: '' })
  },
)

test('a session start gets the project facts in the format of each agent', async () => {
  const started = await hook('claude-code', claude('SessionStart', { source: 'startup' }))
  expect(JSON.parse(started.stdout)).toMatchObject({
    hookSpecificOutput: {
      hookEventName: 'SessionStart',
      additionalContext: expect.stringContaining('sh test.sh'),
    },
  })
  const payload = { sessionId: 's2', cwd: project.dir, source: 'new' }
  const other = await hook('copilot', payload, ['sessionStart'])
  expect(JSON.parse(other.stdout)).toEqual({ additionalContext: expect.stringContaining('sh test.sh') })
  expect([started.code, other.code]).toEqual([0, 0])
})
