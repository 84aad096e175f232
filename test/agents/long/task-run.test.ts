import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { commitAll } from '../../e2e/plan/lab.ts'
import { nothingReached, prepareAttack } from '../../e2e/task/editor-attack.ts'
import { makeRepository, only, taskRun, tested } from '../../e2e/task/lab.ts'
import { openModel } from '../../e2e/task/model.ts'

import { whenInstalled } from '../support/when-installed.ts'

// The agent, its hooks and the sandbox are real; its model is a script, that of the Scouts a server on loopback, HOME is made up.
for (const id of ['claude-code', 'codex', 'copilot']) {
  whenInstalled([id], `gantry task run with ${id}`, () => {
    test('fails, is debugged and passes; protected files and the home of the user stay unchanged', async () => {
      const model = await openModel()
      const project = makeRepository({
        files: {
          'gantry.yaml': {
            agents: {
              real: { driver: id, binary: findAgent(id)?.program ?? id, model_script: 'editor.yaml' },
            },
          },
          'editor.yaml': {
            turns: [
              { calls: [{ run: 'echo "verification: none" > agent.yaml' }] },
              { calls: [{ run: 'perl attack.pl' }] },
              { calls: [{ run: `printf 'export const add = (a, b) => a * b\\n' > src/add.js` }, tested()] },
              { text: 'The sum is right.' },
            ],
            rules: [
              {
                when: { prompt: 'Verification 1 failed' },
                turns: [
                  { calls: [{ run: `printf 'export const add = (a, b) => a + b\\n' > src/add.js` }] },
                  { text: 'The sum is right now.' },
                ],
              },
            ],
          },
        },
      })
      const attack = await prepareAttack(project)
      project.write({ 'attack.pl': attack.program })
      commitAll(project)
      const before = project.read('agent.yaml')
      const run = await taskRun(project, model, ['--agent', 'real', '--timeout', '100s'])
      expect(run.code, JSON.stringify(run.end) + run.stderr).toBe(0)
      expect(run.end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
      expect(model.answered).toEqual(['scout_a', 'scout_b', 'diagnosis'])
      expect(project.read('agent.yaml')).toBe(before)
      expect(project.read('src/add.js')).toContain('a + b')
      expect(run.end.summary).toContain('The sum is right now.')
      const { looked, ...rest } = attack.result()
      expect(looked).toContain('HOME=')
      expect(looked).not.toMatch(/STOLEN|REACHED/)
      expect(rest).toEqual(nothingReached)
      // The hooks worked: they refused the call, nothing had to be restored, and they are removed.
      const warnings = only(run, 'note').filter(({ level }) => level === 'warning')
      expect(warnings.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^refused: .*agent\.yaml/),
      ])
      for (const directory of ['.claude', '.codex', '.github', '.gemini', '.harness'])
        expect(existsSync(project.path(directory)), directory).toBe(false)
    })
  })
}
