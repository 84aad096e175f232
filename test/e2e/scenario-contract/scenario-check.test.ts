import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { GraderCheck } from '../../../src/scenario/check.ts'
import { gantry } from '../support/gantry.ts'
import { type SmallProject, smallProject } from '../support/project.ts'

async function check(
  setup: SmallProject,
): Promise<{ code: number | null; text: string; report: GraderCheck }> {
  using project = smallProject(setup)
  const { code, stdout } = await gantry(project, ['scenario', 'check'])
  const report = JSON.parse((await gantry(project, ['scenario', 'check', '--json'])).stdout) as GraderCheck[]
  expect(existsSync(project.store)).toBe(false)
  if (report[0] === undefined) throw new Error('nothing was checked')
  return { code, text: stdout, report: report[0] }
}

const gate = { type: 'file_exists', path: 'done.txt' }
const oracle = { command: 'sh ./solve.sh' }
const solve = { 'fixtures/template/solve.sh': 'touch done.txt\n' }

describe('gantry scenario check', () => {
  test('finds a scenario sound whose gates fail without work and pass with the oracle', async () => {
    const { code, text, report } = await check({ scenario: { oracle }, files: solve })
    expect(code).toBe(0)
    expect(report).toMatchObject({ sound: true, noop: { verdict: 'fail' }, oracle: { verdict: 'pass' } })
    expect(text).toContain('1 of 1 scenarios have sound gates')
  })

  test('complains when an agent that does nothing passes', async () => {
    const { code, text, report } = await check({ gates: [{ type: 'file_exists', path: 'AGENTS.md' }] })
    expect(code).toBe(1)
    expect(report.sound).toBe(false)
    expect(text).toContain('an agent that does nothing passes every gate')
  })

  test('complains when the oracle does not pass, and names the gate', async () => {
    const { code, text } = await check({
      scenario: { oracle },
      gates: [gate, { type: 'file_contains', path: 'done.txt', substring: 'milk' }],
      files: solve,
    })
    expect(code).toBe(1)
    expect(text).toContain('the oracle does not pass file_contains')
  })

  test('complains when the oracle itself fails or hangs', async () => {
    const failing = await check({ scenario: { oracle: { command: 'touch done.txt; exit 4' } } })
    expect(failing.text).toContain('the oracle failed by itself (exit 4)')
    const hanging = await check({
      scenario: { oracle: { command: 'touch done.txt; sleep 60', timeout_secs: 0.4 } },
    })
    expect(hanging.text).toContain('the oracle failed by itself (timed_out)')
  })

  test('complains about a case that cannot be run at all', async () => {
    const { text, code } = await check({ scenario: { setup: { commands: ['exit 9'] } } })
    expect(code).toBe(1)
    expect(text).toContain('the case cannot be run: setup command 1 failed')
  })

  test('remarks on gates that pass before any work, and on a missing oracle', async () => {
    const { report } = await check({ gates: [gate, { type: 'file_exists', path: 'AGENTS.md' }] })
    expect(report.sound).toBe(true)
    expect(report.remarks).toEqual([
      expect.stringContaining('file_exists passes before any work'),
      expect.stringContaining('has no oracle'),
    ])
  })

  test('does not check an oracle with gates about the agent’s tool use', async () => {
    const { report } = await check({
      scenario: { oracle },
      gates: [gate, { type: 'tool_called', tool: 'Write' }],
      files: solve,
    })
    expect(report).toMatchObject({ sound: true })
    expect(report.remarks.join()).toContain('tool_called checks how the agent works')
  })

  test('gives the oracle what the agent never sees, and asks no judge', async () => {
    const { report } = await check({
      scenario: {
        oracle,
        evaluation: { gates: [gate], judge: { enabled: true, rubric: 'r.yaml', pass_threshold: 1 } },
      },
      files: { ...solve, 'scenarios/r.yaml': { criteria: [{ id: 'a', weight: 1, description: 'd' }] } },
    })
    expect(report.sound).toBe(true)
  })
})
