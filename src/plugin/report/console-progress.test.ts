import { expect, test } from 'vitest'
import type { PluginStep } from '../contract.ts'
import { consoleProgress } from './console-progress.ts'

test('every step that matters is one plain line without control codes', () => {
  const lines: string[] = []
  const at = { trial: 'a\u001b[31m', scenario: 'a', arm: 'alone', rep: 1 } as const
  const steps: PluginStep[] = [
    { kind: 'stage_start', stage: 'execution', total: 1 },
    { kind: 'scenario_start', ...at },
    {
      kind: 'scenario_complete',
      ...at,
      outcome: 'infra',
      cost_usd: null,
      duration_ms: 1_500,
      message: 'gone',
    },
    { kind: 'note', level: 'warning', message: 'careful' },
    { kind: 'error', message: 'broken' },
    { kind: 'stage_complete', stage: 'execution', duration_ms: 2_000, count: 1 },
  ]
  for (const step of steps) consoleProgress(step, (line) => lines.push(line))
  expect(lines).toHaveLength(5)
  expect(lines.join('\n')).not.toContain('\u001b')
  expect(lines[1]).toMatch(/infra, 1\.5s, unmetered: gone$/)
})
