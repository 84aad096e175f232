import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { processesOf, runGantry, runTests } from '../../e2e/robustness/lab.ts'
import { smallProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const commit =
  'git init -q && git add -A && git -c user.name=x -c user.email=x@localhost commit -qm First --date=2020-01-01T00:00:00Z'

/** Id of the only session in the ledger. */
function sessionIn(guard: string): string {
  const [project = ''] = readdirSync(join(guard, 'projects'))
  const [file = ''] = readdirSync(join(guard, 'projects', project, 'sessions'))
  return file.replace(/\.jsonl$/, '')
}

for (const driver of ['claude-code', 'codex'])
  whenInstalled([driver], `arms of ${driver}`, () => {
    test('only the guarded one cannot write .env, and nothing of the guard stays', async () => {
      using project = smallProject({
        scenario: { setup: { commands: [commit] } },
        config: {
          agents: { real: { driver, binary: findAgent(driver)?.program, model_script: 'model.yaml' } },
          arms: {
            plain: { agent: 'real' },
            guarded: {
              agent: 'real',
              guard: { middleware: { pre_completion_checklist: { enabled: false } } },
            },
          },
        },
        files: {
          'model.yaml': {
            turns: [
              { calls: [{ run: 'echo X=1 > .env' }] },
              { calls: [{ run: 'ls done.txt' }] },
              { calls: [{ run: 'echo done > done.txt' }] },
              { calls: [{ run: 'ls done.txt' }] },
              { text: 'Done.' },
            ],
          },
        },
      })
      const { trials, comparisons, code } = await runTests(project, ['--arms', 'plain,guarded'])
      const fixture = (arm: string): string[] => {
        const dir = trials.find(({ agent }) => agent === arm)?.dir ?? ''
        return readdirSync(join(dir, 'fixture')).sort()
      }
      expect(trials.map(({ verdict, reason }) => [verdict, reason])).toEqual([
        ['pass', 'the only gate passed'],
        ['pass', 'the only gate passed'],
      ])
      expect(fixture('plain')).toContain('.env')
      expect(fixture('guarded')).toEqual(fixture('plain').filter((name) => name !== '.env'))
      expect(comparisons).toMatchObject([{ verdict: 'inconclusive', pairs: 1, left_out: [] }])
      expect(code).toBe(0)
      const guard = join(trials.find(({ agent }) => agent === 'guarded')?.dir ?? '', 'guard')
      expect(existsSync(join(guard, 'harness.json'))).toBe(true)
      expect(processesOf(project)).toEqual([])
      const session = sessionIn(guard)
      const made = await runGantry(project, ['scenario', 'from-session', session, '--name', 'again'], {
        env: { GANTRY_GUARD_HOME: guard },
      })
      expect(made.stdout, made.stderr).toContain('Wrote scenarios/again.yaml')
      expect(project.read('scenarios/again.yaml')).toContain('prompt: Write done.txt.')
      // Not a known check, so it is listed and not run. Hooks of Codex do not say whether a command failed.
      expect(project.read('scenarios/again.yaml')).toContain('write the gates')
      expect(made.stdout.includes('ls done.txt')).toBe(driver === 'claude-code')
    })
  })
