import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { buildHook } from '../../../scripts/build-hook.ts'
import { evaluated, firedIn, trialOf } from '../../e2e/plugin/lab.ts'
import { makeProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const hook = (id: string, component_ref: string, user_prompt: string, more: object = {}): object => ({
  id: `guard-${id}`,
  component_type: 'hook',
  component_ref,
  user_prompt,
  ...more,
})

whenInstalled(['claude-code'], "Gantry's own guard, evaluated as a plugin", () => {
  test('fires at every event it asks for, and keeps a secret from being written', async () => {
    using project = makeProject({
      'gantry.yaml': {
        agents: {
          real: {
            driver: 'claude-code',
            binary: findAgent('claude-code')?.program,
            model_script: 'model.yaml',
          },
        },
        plugin: {
          plugin: { path: 'plugin' },
          scope: { hooks: true },
          scenarios: ['scenarios.yaml'],
          execution: { agent: 'real', env: { GANTRY_GUARD_RESIDENT: 'off' } },
        },
      },
      'scenarios.yaml': {
        scenarios: [
          hook('begins', 'SessionStart::*', 'Good day. (hello)'),
          hook('listens', 'UserPromptSubmit', 'How are you? (hello)'),
          hook('lets-stop', 'Stop', 'Goodbye. (hello)'),
          hook('denies', 'PreToolUse::*', 'Put the key into the environment. (secret)', {
            needs_tools: ['Write'],
          }),
          hook('watches', 'PostToolUse::*', 'What does the file say? (look)', { files: { 'a.txt': 'a\n' } }),
          hook('stays-quiet', 'SubagentStart::*', 'Do it yourself. (hello)', { expected_trigger: false }),
          {
            id: 'guard-status',
            component_type: 'command',
            component_ref: 'status',
            user_prompt: '/gantry-guard:status',
          },
        ],
      },
      'model.yaml': {
        turns: [{ text: 'Good.' }],
        rules: [
          {
            when: { prompt: '(secret)' },
            turns: [
              { calls: [{ write: { path: '.env', content: 'KEY=value\n' } }] },
              { text: 'I may not write it.' },
            ],
          },
          { when: { prompt: '(look)' }, turns: [{ calls: [{ read: { path: 'a.txt' } }] }, { text: 'a' }] },
        ],
      },
    })
    cpSync(join(import.meta.dirname, '../../../plugins/gantry-guard'), project.path('plugin'), {
      recursive: true,
    })
    await buildHook(project.path('plugin/dist/hook-bin.js'))
    const run = await evaluated(project, ['run', '--filter', 'guard-', '-j', '2'])
    expect(run.trials.filter(({ verdict }) => verdict !== 'pass').map(({ reason }) => reason)).toEqual([])
    expect(run.trials.length).toBe(7)
    expect(run.document.plugin_load_result).toMatchObject({ loaded: true, plugin_name: 'gantry-guard' })
    const denied = run.execution(trialOf(run, 'guard-denies').trial.id)
    expect(denied.workspace_changes.map(({ path }) => path)).not.toContain('.env')
    expect(denied.detected_tools).toMatchObject([{ name: 'Write' }])
    const answer = denied.hook_responses.find(({ hook_name }) => hook_name === 'PreToolUse:Write')
    expect(answer?.stdout).toContain('deny')
    expect(firedIn(trialOf(run, 'guard-watches'))).toContain('hook:PostToolUse::*')
  }, 300_000)
})
