import { expect, test } from 'vitest'
import { noFacts } from '../guard-engine/facts/gather-facts.ts'
import { callOf, sceneOf, worldOf } from '../guard-engine/protection-corpus.conformance.ts'
import { keepHooks } from './keep-hooks.ts'

const scene = sceneOf(callOf({ name: '', command: 'git checkout main' }), worldOf({}))
const gone = {
  agent: 'claude-code',
  path: '/p/.claude/settings.local.json',
  root: '/p',
  isOfUser: false,
  sinceMs: Date.parse('2026-01-01T12:00:00Z'),
  result: 'missing',
} as const

test('missing hooks are named with the time and both ways out', () => {
  const notice = keepHooks.judge({ ...scene, facts: { ...noFacts, hooks: [gone] } })?.notice
  expect(notice).toContain('missing in /p/.claude/settings.local.json since 2026-01-01T12:00:00.000Z')
  expect(notice).toContain('gantry guard install --agent claude-code --root /p')
  expect(notice).toContain('gantry guard uninstall')
})

test('hooks that are switched off are named with the reason, once in a session', () => {
  const hooks = [{ ...gone, why: '`disableAllHooks` is true in this file' }]
  const facts = { ...noFacts, hooks }
  const answer = keepHooks.judge({ ...scene, facts })
  expect(answer?.notice).toContain('do not run (`disableAllHooks` is true in this file) in /p/.claude/')
  const warned = (answer?.remember ?? []).flatMap((note) => (note.kind === 'warned' ? [note.about] : []))
  const session = { ...scene.history.session, warned }
  expect(keepHooks.judge({ ...scene, facts, history: { ...scene.history, session } })).toBeNull()
})

test('the agent learns that its call removed the hooks and that they are back', () => {
  const facts = { ...noFacts, hooks: [{ ...gone, result: 'put back' as const }] }
  const answer = keepHooks.judge({ ...scene, facts })
  expect(answer?.context).toContain('Gantry has put them back')
  expect(answer?.deny).toBeUndefined()
})

test('nothing is said while all hooks are there', () => {
  expect(keepHooks.judge({ ...scene, facts: { ...noFacts, hooks: [] } })).toBeNull()
})

test('hooks are looked after a call that may move files, unless a person has unlocked them', () => {
  const wanted = (unlockedUntilMs: number, kind: 'shell' | 'read') => {
    const action =
      kind === 'shell'
        ? scene.event.kind === 'tool_before'
          ? scene.event.call.action
          : null
        : { kind: 'read' as const, path: 'a' }
    if (action === null) return null
    const call = { id: 't', tool: 'x', action, input: {} }
    const outcome = { kind: 'success', exitCode: 0, text: '' } as const
    const event = { ...scene.event, kind: 'tool_after', call, outcome } as never
    const gate = { ...scene.history.gate, unlockedUntilMs }
    return keepHooks.wants?.({ ...scene, event, history: { ...scene.history, gate } })
  }
  expect(wanted(0, 'shell')).toEqual(['hooks'])
  expect(wanted(1, 'shell')).toEqual([])
  expect(wanted(0, 'read')).toEqual([])
})
