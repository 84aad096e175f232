import { cpSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { PluginTranscript } from '../../../src/plugin/execute/contract.ts'
import { type Evaluated, evaluated, firedIn, trialOf } from '../../e2e/plugin/lab.ts'
import { makeProject, type TestProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const examples = join(import.meta.dirname, '../../../examples/plugin')

/** A copy of the example, run as its README says. */
async function runExample(
  project: TestProject,
  name: string,
  argv: readonly string[] = [],
): Promise<Evaluated> {
  cpSync(join(examples, name), project.dir, { recursive: true })
  const program = findAgent('claude-code')?.program ?? ''
  const PATH = [dirname(program), process.env.PATH].join(delimiter)
  return evaluated(project, ['run', ...argv], { env: { PATH } })
}

const failedIn = ({ trials }: Evaluated): readonly string[] =>
  trials
    .filter(({ verdict, trial }) => verdict !== 'pass' && trial.arm !== 'without')
    .map(({ scenario_id, reason }) => `${scenario_id}: ${reason}`)

whenInstalled(['claude-code'], 'an example plugin, evaluated', () => {
  test('release-notes does everything right, by hand-written scenarios, cases and what is made of its own words', async () => {
    using project = makeProject()
    const run = await runExample(project, 'release-notes')
    expect(failedIn(run)).toEqual([])
    expect(run.code).toBe(0)
    const { summary } = run.document
    expect(Object.keys(summary.by_component).toSorted()).toEqual([
      'agent:release-reviewer',
      'command:changelog/check',
      'command:draft',
      'command:tag',
      'hook:PostToolUse::Write|Edit',
      'hook:SessionStart',
      'skill:next-version',
      'skill:write-release-notes',
    ])
    expect(summary.accuracy).toMatchObject({ value: 1 })
    expect(summary.conflicts.count).toBe(0)
    const late = run.execution(trialOf(run, 'notes-after-a-look-around').trial.id)
    expect(late.detected_tools.map(({ name }) => name)).toEqual(['Read', 'Read', 'Skill'])
    const written = trialOf(run, 'notes-in-words-for-users')
    expect(written.gates.map(({ passed }) => passed)).toEqual(written.gates.map(() => true))
    expect(written.gates.length).toBe(4)
    expect(written.grader_score).toBe(1)
    // The cases have their baseline, as in `claude plugin eval`.
    const baseline = run.trials.filter(({ trial }) => trial.arm === 'without')
    expect(new Set(baseline.map(({ scenario_id }) => scenario_id)).size).toBe(3)
    expect(summary.comparison.differences).toMatchObject([{ kind: 'alone-without' }])
  }, 300_000)

  test('earlier messages of a proactive scenario come before its prompt', async () => {
    using project = makeProject()
    const run = await runExample(project, 'release-notes', ['--filter', 'draft-was-just-written'])
    const { trial, verdict } = trialOf(run, 'draft-was-just-written')
    expect(verdict).toBe('pass')
    const path = join(project.store, 'runs', run.runId, 'transcripts', `${trial.id}.json`)
    const { events } = JSON.parse(readFileSync(path, 'utf8')) as PluginTranscript
    const said = events.flatMap((event) => (event.type === 'tool_result' ? [] : [event.edit.message]))
    expect(said.slice(0, 3).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Put the notes for 2.0 into NOTES.md.'],
      ['assistant', 'They are in NOTES.md.'],
      ['user', 'Good. I send them to the mailing list now.'],
    ])
  }, 120_000)

  test('overlapping shows which component fired instead of which', async () => {
    using project = makeProject()
    const run = await runExample(project, 'overlapping')
    expect(run.code).toBe(1)
    const failed = run.trials
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ scenario_id }) => scenario_id)
    expect(failed.toSorted()).toEqual([
      'command-in-place-of-the-skill',
      'condense-text-direct-2',
      'summarize-document-direct-3',
      'summary-gets-the-other-skill',
    ])
    const severityOf = (id: string): string => trialOf(run, id).conflict.conflict_severity
    expect(severityOf('summary-of-minutes')).toBe('none')
    expect(severityOf('summary-gets-the-other-skill')).toBe('high')
    expect(severityOf('both-skills-one-after-the-other')).toBe('medium')
    expect(severityOf('command-in-place-of-the-skill')).toBe('high')
    expect(firedIn(trialOf(run, 'command-in-place-of-the-skill'))).toEqual(['command:summarize'])
  }, 300_000)

  test('weather does not count a refused call, and counts a skill with its server as a small conflict', async () => {
    using project = makeProject()
    const run = await runExample(project, 'weather')
    expect(failedIn(run)).toEqual([])
    expect(firedIn(trialOf(run, 'forecast-asked-for-twice'))).toEqual(['mcp_server:almanac'])
    expect(trialOf(run, 'a-city-nobody-knows')).toMatchObject({ triggered: false, detections: [] })
    const packing = trialOf(run, 'packing-for-nairobi')
    expect(firedIn(packing)).toEqual(['skill:what-to-wear', 'mcp_server:almanac'])
    expect(packing.conflict.conflict_severity).toBe('low')
    expect(run.document.plugin_load_result?.mcp_servers).toMatchObject([
      { name: 'plugin:weather:almanac', status: 'connected', tools: ['forecast', 'cities'] },
    ])
  }, 300_000)

  test('hooks-only fires on its events, and its guard works', async () => {
    using project = makeProject()
    const run = await runExample(project, 'hooks-only')
    expect(failedIn(run)).toEqual([])
    const guarded = run.execution(trialOf(run, 'a-secret-is-not-written').trial.id)
    expect(guarded.workspace_changes).toEqual([])
    expect(guarded.hook_responses.find(({ hook_event }) => hook_event === 'PreToolUse')?.stdout).toContain(
      'deny',
    )
    const written = run.execution(trialOf(run, 'a-plain-file-is-written').trial.id)
    expect(written.workspace_changes).toEqual([{ path: 'fish.txt', kind: 'created' }])
    // The hook at the end of a session is not observable. Only the end of the session is.
    expect(trialOf(run, 'SessionEnd-greeting-direct')).toMatchObject({ triggered: true, confidence: 0.8 })
  }, 300_000)

  test.each([
    ['mcp-never-answers', 'mcp_timeout'],
    ['mcp-crashes', 'mcp_connection_failed'],
  ])(
    '%s costs nothing but the wait: %s',
    async (name, errorType) => {
      using project = makeProject({
        'gantry.yaml': {
          agents: { 'scripted-claude': { driver: 'claude-code', model_script: 'model.yaml' } },
          plugin: {
            plugin: { path: '.' },
            scope: { mcp_servers: true },
            mcp_servers: { connection_timeout_ms: 1_000 },
            execution: { agent: 'scripted-claude' },
          },
        },
        'model.yaml': { turns: [{ text: 'Nobody asks.' }] },
      })
      const run = await runExample(project, `broken/${name}`)
      expect(run.trials).toEqual([])
      expect(run.document.not_run.length).toBeGreaterThan(0)
      expect(run.document.plugin_load_result).toMatchObject({ loaded: true, error_type: errorType })
      expect(run.code).toBe(4)
    },
    120_000,
  )
})
