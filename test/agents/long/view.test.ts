import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { behaviours } from '../../e2e/plugin/behaviours.ts'
import { evaluated, kitchenProject } from '../../e2e/plugin/lab.ts'
import { runTests } from '../../e2e/robustness/lab.ts'
import { smallProject, type TestProject } from '../../e2e/support/project.ts'
import { inBrowser, openPage, startView, useBrowser } from '../../e2e/view/lab.ts'
import { whenInstalled } from '../support/when-installed.ts'

const id = 'claude-code'

// Real Claude Code, the model is a script; the page in a real browser.
whenInstalled([id], 'the page shows what Claude Code left', () => {
  const browser = useBrowser()

  /** Opens every route, and waits for what must be on it. */
  async function see(project: TestProject, routes: Readonly<Record<string, string>>, env = {}) {
    const { page, go, faults } = await openPage(browser(), await startView(project, [], { env }))
    for (const [route, text] of Object.entries(routes)) {
      await go(route)
      await page.getByText(text).first().waitFor()
      expect(await page.locator('.problem').allTextContents(), route).toEqual([])
    }
    expect(faults).toEqual([])
    return page
  }

  inBrowser(
    'a run with two arms, its trials, their comparison, the trend and the guarded session',
    async () => {
      using project = smallProject({
        scenario: { setup: { commands: ['git init -q'] } },
        config: {
          agents: { real: { driver: id, binary: findAgent(id)?.program, model_script: 'model.yaml' } },
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
              { calls: [{ run: 'echo done > done.txt' }] },
              { text: 'Done, as asked.' },
            ],
          },
        },
      })
      const { run_id: run, trials } = await runTests(project, ['--arms', 'plain,guarded'])
      const dirOf = (arm: string): string => trials.find(({ agent }) => agent === arm)?.dir ?? ''
      const [plain, guarded] = ['plain', 'guarded'].map(
        (arm) => trials.find(({ agent }) => agent === arm)?.id ?? '',
      )
      const guard = join(dirOf('guarded'), 'guard')
      const [home = ''] = readdirSync(join(guard, 'projects'))
      const [session = ''] = readdirSync(join(guard, 'projects', home, 'sessions'))
      await see(
        project,
        {
          '/': run,
          [`/runs/${run}`]: 'Pass rates',
          [`/runs/${run}?find=as+asked`]: 'in 2 of 2 trials',
          [`/runs/${run}/${plain}`]: 'Done, as asked.',
          [`/runs/${run}/${plain}?tab=changes`]: 'done.txt',
          [`/runs/${run}/${guarded}`]: 'Done, as asked.',
          [`/compare?sides=${run}:plain,${run}:guarded`]: 'Difference of the pass rates',
          [`/side-by-side?a=${run}/${plain}&b=${run}/${guarded}`]: 'Side by side',
          '/trends': 'Pass rate',
          '/tasks': 'Tasks',
          '/labels': 'There are no labels yet.',
          '/plugins': 'No plugin was evaluated yet.',
          '/guard': session.replace(/\.jsonl$/, '').slice(0, 8),
        },
        { GANTRY_GUARD_HOME: guard },
      )
    },
  )

  inBrowser('an evaluation of a plugin and a failed scenario of it', async () => {
    const chosen = behaviours.filter(({ id: name }) => /^how-skill/.test(name)).slice(0, 4)
    using project = kitchenProject({ id, behaviours: chosen })
    const { runId, trials } = await evaluated(project, ['run', '--filter', 'how-', '-j', '2'])
    const [trial = ''] = readdirSync(join(project.store, 'runs', runId, 'trials'))
    expect(trials).toHaveLength(4)
    await see(project, {
      '/plugins': 'kitchen',
      [`/runs/${runId}`]: 'What fired instead',
      [`/runs/${runId}/${trial}`]: 'how-skill',
    })
  })
})
