import { expect, test } from 'vitest'
import type { Note } from '../../guard-engine/contract.ts'
import type { Terminal } from '../../io/terminal.ts'
import { agentOf, agentVariable } from './prove-person.ts'
import { lock, unlock, waive } from './unlock.ts'

const nowMs = Date.parse('2026-01-01T00:00:00Z')

/** Types the requested code, or something else. */
function terminal(answer: (asked: string) => string | null, isTerminal = true): Terminal {
  let shown = ''
  return {
    isTerminal,
    name: '/dev/pts/7',
    write: (text) => {
      shown += text
    },
    readLine: async () => answer(shown),
  }
}
const types = (asked: string): string => [...asked.matchAll(/Type (\S+) to continue/g)].at(-1)?.[1] ?? ''

function request(own: Terminal, env: Record<string, string> = { USER: 'dev' }) {
  const notes: Note[] = []
  // Process 1 has no parent, wherever the tests run.
  const base = { terminal: own, env, pid: 1, signal: new AbortController().signal, root: '/p', nowMs }
  return { notes, request: { ...base, append: (note: Note) => void notes.push(note) } }
}

test('a person who types the code unlocks for ten minutes, and the ledger records the name', async () => {
  const { notes, request: asked } = request(terminal(types))
  await unlock(asked)
  expect(notes).toEqual([{ kind: 'unlocked', untilMs: nowMs + 600_000, by: 'dev on /dev/pts/7' }])
})

test('a wrong code, a closed input or a missing terminal writes nothing', async () => {
  for (const own of [
    terminal(() => 'yes'),
    terminal(() => ''),
    terminal(() => null),
    terminal(types, false),
  ]) {
    const { notes, request: asked } = request(own)
    await expect(unlock(asked)).rejects.toThrow(/code did not match|no terminal/)
    expect(notes).toEqual([])
  }
})

test('an unlock of more than an hour is refused', async () => {
  const { notes, request: asked } = request(terminal(types))
  await expect(unlock({ ...asked, forMs: 3_600_001 })).rejects.toThrow('longer than an unlock may last')
  await unlock({ ...asked, forMs: 3_600_000 })
  expect(notes).toHaveLength(1)
})

test('an agent is recognized by its variables before the confirmation', async () => {
  for (const name of [
    'CLAUDECODE',
    'CODEX_SANDBOX',
    'GEMINI_CLI',
    'COPILOT_CLI',
    'CURSOR_TRACE_ID',
    'OPENCODE',
  ]) {
    const own = terminal(() => {
      throw new Error('asked for confirmation')
    })
    const { notes, request: asked } = request(own, { USER: 'dev', [name]: '1' })
    await expect(unlock(asked)).rejects.toThrow(name)
    expect(notes).toEqual([])
  }
})

test('a lock ends an unlock without confirmation', () => {
  const notes: Note[] = []
  lock({ append: (note) => void notes.push(note), by: 'dev' })
  expect(notes).toEqual([{ kind: 'unlocked', untilMs: 0, by: 'dev' }])
})

test('a waiver needs a reason and applies only to the tree the person saw', async () => {
  const { notes, request: asked } = request(terminal(types))
  await waive({ ...asked, reason: 'no tests yet', fingerprint: async () => 't1' })
  expect(notes).toEqual([{ kind: 'waived', tree: 't1', by: 'dev on /dev/pts/7', why: 'no tests yet' }])
  await expect(waive({ ...asked, reason: ' ', fingerprint: async () => 't1' })).rejects.toThrow('reason')
  let tree = 1
  const moving = async (): Promise<string> => `t${tree++}`
  await expect(waive({ ...asked, reason: 'x', fingerprint: moving })).rejects.toThrow(
    'changed before you confirmed',
  )
  expect(notes).toHaveLength(1)
})

test('agents are recognized by their command line, and other programs are not', () => {
  for (const argv of [
    ['claude', '-p', 'x'],
    ['/usr/local/bin/claude'],
    ['node', '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js'],
    ['node', '--max-old-space-size=4096', '/x/bin/codex.js'],
    ['/x/node_modules/@openai/codex/vendor/x86_64/codex/codex', 'exec'],
    ['node', '/x/bin/gemini'],
    ['copilot'],
    ['/opt/Cursor/cursor'],
    ['/x/.opencode/bin/opencode'],
  ]) {
    expect(agentOf(argv), argv.join(' ')).not.toBeNull()
  }
  for (const argv of [
    ['bash'],
    ['vim', 'claude'],
    ['-bash'],
    ['tmux', 'new', '-s', 'codex'],
    ['less', '/home/claude/x'],
    ['sshd: claude@pts/1'],
    ['node', 'server.js', 'claude'],
    [],
  ]) {
    expect(agentOf(argv), argv.join(' ')).toBeNull()
  }
})

test('variables that people set for an agent do not mark an agent', () => {
  expect(agentVariable(['CODEX_HOME', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_USE_BEDROCK', 'PATH'])).toBeNull()
  expect(agentVariable(['PATH', 'CLAUDE_CODE_SESSION_ID'])).toBe('CLAUDE_CODE_SESSION_ID')
})
