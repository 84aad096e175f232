import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import type { LabNames, LabPlace } from './lab-place.ts'
import { simulatedEvents } from './simulated-events.ts'

const place: LabPlace = {
  workspace: '/lab/workspace',
  home: '/lab/home',
  tmp: '/lab/tmp',
  pluginRoot: '/lab/plugin',
  pluginData: '/lab/home/data',
  transcript: '/lab/home/session.jsonl',
  envFile: '/lab/env.sh',
}
const names: LabNames = {
  plugin: 'demo',
  agents: ['demo:reviewer'],
  commands: ['demo:hi'],
  toolPrefixes: ['mcp__plugin_demo_weather__'],
}

const fixtures = join(import.meta.dirname, '../../agents/claude-code/fixtures/hooks/2.1.325')

test('every known event can be simulated, and no other', () => {
  for (const event of hookEvents.keys()) {
    const events = simulatedEvents(event, place, names)
    expect(events.length, event).toBeGreaterThan(0)
    expect(new Set(events.map(({ label }) => label)).size, event).toBe(events.length)
    for (const { payload } of events)
      expect(payload).toMatchObject({ hook_event_name: event, cwd: place.workspace })
  }
  expect(simulatedEvents('BeforeToolUse', place, names)).toEqual([])
})

describe('a simulated payload has the fields of a captured one, in its order', () => {
  const captured = readdirSync(fixtures)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, sample: JSON.parse(readFileSync(join(fixtures, name), 'utf8')) }))
    // Calls of subagents and reports of background tasks are not separate events.
    .filter(({ name }) => !/in-subagent|summariser|second-time|task-notification/.test(name))

  test.each(captured)('$name', ({ sample }) => {
    const events = simulatedEvents(sample.hook_event_name, place, names)
    const subject = ['tool_name', 'source', 'trigger', 'reason'].find((key) => key in sample)
    const same = events.find(({ payload }) => subject === undefined || payload[subject] === sample[subject])
    expect(same, sample.hook_event_name).toBeDefined()
    expect(Object.keys(same?.payload ?? {})).toEqual(Object.keys(sample))
    if ('tool_input' in sample)
      expect(Object.keys(same?.payload.tool_input as object)).toEqual(
        expect.arrayContaining(Object.keys(sample.tool_input).filter((key) => key !== 'old_string')),
      )
  })
})

test('the names of the plugin come first', () => {
  const first = (event: string) => simulatedEvents(event, place, names)[0]?.payload
  expect(first('SubagentStart')).toMatchObject({ agent_type: 'demo:reviewer' })
  expect(first('UserPromptExpansion')).toMatchObject({ command_name: 'demo:hi' })
  const tools = simulatedEvents('PreToolUse', place, names).map(({ payload }) => payload.tool_name)
  expect(tools).toContain('mcp__plugin_demo_weather__search')
})

test('no attack would do harm outside of the lab, even if it ran', () => {
  const attacks = simulatedEvents('PreToolUse', place, names).filter(({ intent }) => intent === 'attack')
  expect(attacks.length).toBeGreaterThan(10)
  for (const { payload } of attacks) {
    const { command = '', file_path, notebook_path } = payload.tool_input as Record<string, string>
    if (/rm -rf/.test(command)) expect(command).toMatch(/^rm -rf (?:\/ --no-such-option|~$)/)
    for (const path of [file_path, notebook_path]) if (path !== undefined) expect(path).toMatch(/^\/lab\//)
  }
})
