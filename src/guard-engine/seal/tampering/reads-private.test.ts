import { describe, expect, test } from 'vitest'
import type { ToolCall } from '../../../core/hook-event.ts'
import type { World } from '../../../shell/world.ts'
import { attemptOf } from './attempt.ts'
import { readsPrivate } from './reads-private.ts'

const guardHome = '/home/me/work/state/guard'
const world: World = {
  home: '/home/me',
  platform: 'linux',
  env: { GANTRY_GUARD_HOME: guardHome },
  own: [guardHome],
  resolve: (path) => ({ real: path, kind: 'missing', id: null, links: 0 }),
  list: () => null,
  readText: () => null,
}

describe('a command that reads the home of the guard', () => {
  test.each([
    ['/home/me/work', 'cat state/guard/key'],
    ['/home/me/work', 'cat ./state/guard/key'],
    ['/home/me/work', 'cat STATE/Guard/key'],
    ['/home/me/work', 'cat src/../state/guard/key'],
    ['/home/me/work', 'cat stat*/guard/key'],
    ['/home/me/work', 'cat {state,src}/guard/key'],
    ['/home/me/work', 'tool --file=state/guard/key'],
    ['/home/me/work', 'cat /home/me/work/state/guard/key'],
    ['/home/me/work', 'cat ~/work/state/guard/key'],
    ['/home/me/work', 'cd state && cat guard/key'],
    ['/home/me/work/src', 'cat ../state/guard/key'],
    ['/home/me/work/state', 'cat guard'],
    [guardHome, 'cat key'],
    [`${guardHome}/projects`, 'cat x/project.jsonl'],
    ['/', 'cat home/me/work/state/guard/key'],
  ])('from %s: %s', (cwd, command) => {
    expect(found(cwd, command)).toContain("the guard's home directory")
  })

  test.each([
    ['/home/me/work', 'cat guard/key'],
    ['/home/me/work', 'cat src/state/guard/key'],
    ['/home/me/work', 'grep -rn todo src/*.ts'],
    ['/home/me/work', 'cat stateful/guard/key'],
    ['/home/me/work/src', 'cat state/guard/key'],
    ['/srv/other', 'cat state/guard/key ../state/guard'],
  ])('does not match from %s: %s', (cwd, command) => {
    expect(found(cwd, command)).toBeNull()
  })
})

function found(cwd: string, command: string): string | null {
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  const call: ToolCall = { id: 't', tool: 'Bash', input: { command }, action }
  const edits = () => ({ files: {}, byAgent: {} })
  return readsPrivate(attemptOf(call, { agent: 'claude-code', cwd, root: cwd, world, edits }))
}
