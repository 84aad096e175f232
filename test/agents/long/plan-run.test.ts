import { existsSync, mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { ledgerFiles, readLedger } from '../../../src/guard-engine/ledger/read-ledger.ts'
import { boxes, examplePlan, git, iterationFile, only, planRun } from '../../e2e/plan/lab.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

// The agent and its hooks are real, the model is the example's script, HOME is made up.
for (const id of ['claude-code', 'claude-code-old', 'codex', 'copilot']) {
  whenInstalled([id], `gantry plan run with ${id}`, () => {
    const driver = id.replace('-old', '')

    test('works through the example, guarded by hooks that are gone afterwards', async () => {
      using project = exampleWith(id, driver)
      const run = await planRun(project, ['--agent', 'real', '--commit', '--timeout', '100s'])
      expect(run.code, run.stdout + run.stderr).toBe(0)
      expect(run.end).toMatchObject({ state: 'done', done: 3, iterations: 3 })
      expect(boxes(project)).toBe('xxx')
      expect(only(run, 'plan_started')[0]?.guard).toMatch(/for the duration of the run$/)
      // The hooks did run, so there is no warning that they did not.
      expect(only(run, 'note').filter(({ level }) => level === 'warning')).toEqual([])
      const entries = ledgerOf(project)
      expect(
        new Set(entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event.session] : []))).size,
      ).toBe(3)
      const verdicts = entries.flatMap((entry) => (entry.kind === 'decision' ? [entry.verdict] : []))
      // At the first task the model wants to stop before the tests have run.
      expect(verdicts).toContain('refuse')
      for (const directory of ['.claude', '.codex', '.github', '.gemini'])
        expect(existsSync(project.path(directory)), directory).toBe(false)
      expect(git(project, 'log', '--format=%s', '--reverse').trim().split('\n')).toEqual([
        'Start',
        'Count the words of a text',
        'Find the longest word',
        'Tell how often each word occurs',
      ])
      expect(git(project, 'status', '--porcelain')).toBe('')
      expect(iterationFile(project, 1, 'diff.patch')).toContain('countWords')
    })
  })
}

function exampleWith(id: string, driver: string): TestProject {
  const project = examplePlan({
    'gantry.yaml': {
      agents: {
        real: { driver, binary: findAgent(id)?.program ?? driver, model_script: 'agents/model.yaml' },
      },
    },
  })
  // Of a person who has used Codex before: it does not make the directory itself.
  mkdirSync(`${project.home}/.codex`)
  return project
}

function ledgerOf(project: TestProject) {
  const home = `${project.home}/.local/state/gantry/guard`
  return ledgerFiles(home, project.dir).flatMap((path) => readLedger(home, path).entries)
}
