import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSafeName } from '../../store/run-paths.ts'
import { componentTypes } from '../contract.ts'
import type { UnnamedScenario } from './component-record.ts'
import { nameScenarios } from './name-scenarios.ts'

const unnamed = (suffix: string): UnnamedScenario => ({
  suffix,
  component_ref: 'x',
  expected_component: 'x',
  component_type: 'skill',
  scenario_type: 'direct',
  user_prompt: 'hi',
  expected_trigger: true,
  origin: 'template',
})

const named = (
  ...groups: readonly (readonly ['skill' | 'agent' | 'command' | 'hook', string, ...string[]])[]
) =>
  nameScenarios(
    groups.map(([type, name, ...suffixes]) => ({ type, name, scenarios: suffixes.map(unnamed) })),
  ).map(({ id }) => id)

test('an id is the component, the type and a number', () => {
  expect(
    named(['skill', 'greet', 'direct-1', 'edge_case-2'], ['command', 'deploy/staging', 'basic']),
  ).toEqual(['greet-direct-1', 'greet-edge_case-2', 'deploy-staging-basic'])
  expect(named(['hook', 'PreToolUse::Write|Edit', 'write-direct'])).toEqual([
    'PreToolUse-Write-Edit-write-direct',
  ])
})

test('components with the same slug get different ids, whatever else is in the plugin', () => {
  const [skill, agent, other] = named(
    ['skill', 'review', 'direct-1'],
    ['agent', 'Review', 'direct-1'],
    ['skill', 'x', 'direct-1'],
  )
  expect(skill).toMatch(/^review-[0-9a-f]{6}-direct-1$/)
  expect(agent).toMatch(/^Review-[0-9a-f]{6}-direct-1$/)
  expect(other).toBe('x-direct-1')
  expect(named(['command', 'a', 'multi-file-ref'], ['command', 'a-multi', 'file-ref'])).toEqual([
    'a-multi-file-ref',
    'a-multi-file-ref-2',
  ])
})

test('ids are unique on every file system and are file names, whatever components are called', () => {
  const suffix = fc.oneof(fc.constantFrom('direct-1', 'basic', 'file-ref', 'multi-file-ref'), fc.string())
  const group = fc.record({
    type: fc.constantFrom(...componentTypes),
    name: fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('a', 'A', 'a-multi', '../x', 'é', '…', '', 'x'.repeat(300)),
    ),
    suffixes: fc.uniqueArray(suffix, { maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(group, { maxLength: 8 }), (groups) => {
      const ids = nameScenarios(
        groups.map(({ type, name, suffixes }) => ({ type, name, scenarios: suffixes.map(unnamed) })),
      ).map(({ id }) => id)
      expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length)
      for (const id of ids) expect(isSafeName(`${id}-without-10`), id).toBe(true)
    }),
    { numRuns: 300 },
  )
})
