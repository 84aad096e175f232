import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { Execution } from '../../../src/plugin/execute/contract.ts'
import { checkPluginLoad } from '../../../src/plugin/execute/load/plugin-load.ts'
import type { ExecuteRequest } from '../../../src/plugin/execute/request.ts'
import type { PluginScenario } from '../../../src/plugin/generate/contract.ts'
import { makeDemoPlugin } from '../../support/demo-plugin.ts'
import { type ExecuteLab, type LabResult, openExecuteLab, scenarioOf } from '../../support/execute-lab.ts'
import { whenInstalled } from '../support/when-installed.ts'

const skill = { component_type: 'skill', component_ref: 'greet' } as const
const server = { component_type: 'mcp_server', component_ref: 'weather' } as const

const tool = (name: string, input: object) => ({ calls: [{ tool: { name, input } }] })
const rule = (prompt: string, ...turns: readonly object[]) => ({ when: { prompt }, turns })

/** A model that does what the words in capital letters say. */
const script = {
  turns: [{ text: 'Nothing to do.' }],
  rules: [
    rule('GREET', tool('Skill', { skill: 'demo:greet' }), { text: 'Hello.' }),
    rule('LOOK CLOSELY', { calls: [{ read: { path: 'notes.txt' } }] }, { text: 'It is fine.' }),
    rule(
      'REVIEW',
      tool('Agent', {
        description: 'review',
        prompt: 'LOOK CLOSELY',
        subagent_type: 'demo:reviewer',
        run_in_background: false,
      }),
      { text: 'Reviewed.' },
    ),
    rule('WEATHER', tool('mcp__plugin_demo_weather__forecast', { city: 'Oslo' }), { text: 'Sunny.' }),
    rule('WRITE NOTES', { calls: [{ write: { path: 'new.txt', content: 'x' } }] }, { text: 'Written.' }),
    rule('WRITE KEPT', { calls: [{ write: { path: 'kept.txt', content: 'x' } }] }, { text: 'Refused.' }),
    { when: { last_message: 'REMEMBER' }, turns: [{ text: 'I do.' }] },
    rule('READ ON', ...Array.from({ length: 9 }, () => ({ calls: [{ read: { path: 'notes.txt' } }] }))),
    rule('WAIT', { text: 'late', delay_ms: 60_000 }),
    rule('END YOURSELF', { calls: [{ run: 'kill -9 $PPID' }] }, { text: 'unreachable' }),
  ],
}

const scenarios: readonly PluginScenario[] = [
  scenarioOf('skill', 'GREET Ada.', skill),
  scenarioOf('quiet', 'Do nothing.', skill),
  scenarioOf('agent', 'REVIEW it.', skill, { files: { 'notes.txt': 'a note\n' } }),
  scenarioOf('command', '/demo:hi Ada', skill),
  scenarioOf('weather', 'WEATHER in Oslo?', server),
  scenarioOf('write', 'WRITE NOTES.', skill, { needs_tools: ['Write'] }),
  scenarioOf('denied', 'WRITE KEPT.', skill, { needs_tools: ['Write'] }),
  scenarioOf('recalled', 'REMEMBER what I said?', skill, {
    setup_messages: [
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
    ],
  }),
  scenarioOf('again', 'GREET Ada again.', skill),
]

/** The newest version is tried in everything, the oldest that npm hands out in what it could do differently. */
for (const id of ['claude-code', 'claude-code-old'])
  whenInstalled([id], `plugin scenarios in ${id}`, () => {
    const onNewest: typeof test | (() => void) = id === 'claude-code' ? test : () => {}
    let lab: ExecuteLab
    let plugin: ReturnType<typeof makeDemoPlugin>
    let batched: LabResult
    const config = { scope: { mcp_servers: true } }

    beforeAll(async () => {
      lab = openExecuteLab(findAgent(id)?.program ?? '')
      plugin = makeDemoPlugin(join(lab.dir, 'plugin'))
      batched = await lab.run({ plugin, script, scenarios, config })
    })
    afterAll(() => lab?.close())

    test('captures exactly the components that Claude Code reports', () => {
      const fired = Object.fromEntries(
        batched.executions.map(({ scenario_id, detected_tools, expansions, subagent_captures }) => [
          scenario_id,
          [
            ...detected_tools.map(({ name, agent_type, success }) => [name, agent_type ?? 'main', success]),
            ...expansions.map(({ command_name, command_args }) => [command_name, command_args]),
            ...subagent_captures.map(({ agent_type, stop_timestamp }) => [
              agent_type,
              stop_timestamp !== undefined,
            ]),
          ],
        ]),
      )
      expect(fired).toEqual({
        skill: [['Skill', 'main', true]],
        quiet: [],
        agent: [
          ['Agent', 'main', true],
          ['Read', 'demo:reviewer', true],
          ['demo:reviewer', true],
        ],
        command: [['demo:hi', 'Ada']],
        weather: [['mcp__plugin_demo_weather__forecast', 'main', true]],
        write: [['Write', 'main', true]],
        denied: [['Write', 'main', false]],
        recalled: [],
        again: [['Skill', 'main', true]],
      })
      expect(batched.execution('skill').detected_tools[0]?.input).toEqual({ skill: 'demo:greet' })
      for (const execution of batched.executions) {
        expect(execution).toMatchObject({ termination_type: 'clean', ending: 'exited', infra_retries: 0 })
        expect(execution.failure ?? execution.invalid).toBeUndefined()
        expect(execution.num_turns).toBe(
          execution.detected_tools.some(({ agent_id }) => agent_id === undefined) ? 2 : 1,
        )
        expect(execution.api_duration_ms).toBeGreaterThan(0)
        expect(execution.tokens?.input).toBeGreaterThan(0)
        expect(execution.model_usage).toHaveLength(1)
      }
    })

    test('answers of the plugin’s hooks belong to the scenario in which they ran, from its start to its end', () => {
      const answers = (scenario: string) =>
        batched.execution(scenario).hook_responses.map(({ hook_name, outcome }) => [hook_name, outcome])
      const ends = batched
        .execution('quiet')
        .hook_responses.some(({ hook_event }) => hook_event === 'SessionEnd')
      const around = (...within: readonly (readonly [string, string])[]) => [
        ['SessionStart:startup', 'success'],
        ['SessionStart:clear', 'success'],
        ...within,
        ['Stop', 'success'],
        // Some versions do not report hooks at the end of a conversation.
        ...(ends ? [['SessionEnd:clear', 'success']] : []),
      ]
      expect(answers('quiet')).toEqual(around())
      expect(answers('write')).toEqual(around(['PreToolUse:Write', 'success']))
      expect(answers('denied')).toEqual(around(['PreToolUse:Write', 'error']))
      const [denial] = batched.execution('denied').hook_responses.filter(({ outcome }) => outcome === 'error')
      expect(denial).toMatchObject({ hook_event: 'PreToolUse', exit_code: 2, stderr: 'kept.txt is kept\n' })
      expect(batched.execution('quiet').session_timing).toMatchObject({
        starts: [{ source: 'startup' }, { source: 'clear' }],
        end: { reason: 'clear' },
      })
    })

    test('every scenario begins with its own files and words, and leaves none to the next', () => {
      const changed = batched.executions.filter(({ workspace_changes }) => workspace_changes.length > 0)
      expect(changed.map(({ scenario_id, workspace_changes }) => [scenario_id, workspace_changes])).toEqual([
        ['write', [{ path: 'new.txt', kind: 'created' }]],
      ])
      const said = batched
        .transcript('recalled')
        .events.map((event) => (event.type === 'tool_result' ? event.result : event.edit.message.content))
      expect(said).toEqual(['My name is Ada.', 'Hello Ada.', 'REMEMBER what I said?', 'I do.'])
      const [, called] = batched.transcript('skill').events
      expect(called).toMatchObject({
        type: 'assistant',
        edit: { message: { tool_calls: [{ name: 'Skill', input: { skill: 'demo:greet' } }] } },
      })
    })

    test('one process for each group, and the same captures when every scenario has its own', async () => {
      expect(batched.report).toMatchObject({ executed: 9, processes: 3, infra: 0, invalid: 0, cost_usd: 0 })
      const chosen = scenarios.filter(({ id: name }) =>
        ['agent', 'command', 'weather', 'denied', 'again'].includes(name),
      )
      const isolated = await lab.run({
        plugin,
        script,
        scenarios: chosen,
        config: { ...config, execution: { session_strategy: 'isolated' } },
        more: loadedBefore(batched),
      })
      expect(isolated.report.processes).toBe(5)
      for (const execution of isolated.executions)
        expect(normal(execution)).toEqual(normal(batched.execution(execution.trial.id)))
    })

    onNewest('at its time a scenario is asked to stop, and the process goes on', async () => {
      const late = scenarioOf('late', 'WAIT for it.', skill, {
        case: { dir: lab.dir, graders: [], timeout_ms: 1_500 },
      })
      const { execution, report } = await lab.run({
        plugin,
        script,
        scenarios: [late, scenarios[0] ?? late],
        more: loadedBefore(batched),
      })
      expect(execution('late')).toMatchObject({
        ending: 'timed_out',
        termination_type: 'interrupted',
        errors: [{ error_type: 'interrupted' }],
      })
      expect(execution('skill').detected_tools).toHaveLength(1)
      expect(report).toMatchObject({ processes: 1, infra: 0, invalid: 0 })
    })

    onNewest(
      'a process that is killed takes its scenario with it, and the group goes on in another one',
      async () => {
        const killed = scenarioOf('killed', 'END YOURSELF.', skill)
        const { execution, report } = await lab.run({
          plugin,
          script,
          scenarios: [killed, scenarios[0] ?? killed],
          config: { execution: { disallowed_tools: [] }, tuning: { retry: { max_retries: 0 } } },
        })
        expect(execution('killed')).toMatchObject({
          termination_type: 'error',
          failure: { reason: 'unavailable' },
        })
        expect(execution('skill')).toMatchObject({
          termination_type: 'clean',
          detected_tools: [{ name: 'Skill' }],
        })
        expect(report).toMatchObject({ processes: 2, executed: 2, infra: 1 })
      },
    )

    onNewest('at its limit of turns a scenario is stopped, and its recording holds', async () => {
      const endless = scenarioOf('endless', 'READ ON.', skill, {
        files: { 'notes.txt': 'a note' },
        case: { dir: lab.dir, graders: [], max_turns: 2 },
      })
      const cassettes = join(lab.dir, 'limited')
      const chosen = [endless, scenarios[0] ?? endless]
      const recorded = await lab.run({ plugin, script, scenarios: chosen, replay: 'record', cassettes })
      const replayed = await lab.run({
        plugin,
        scenarios: chosen,
        replay: 'strict',
        cassettes,
        more: loadedBefore(recorded),
      })
      for (const { execution, report } of [recorded, replayed]) {
        expect(execution('endless')).toMatchObject({
          ending: 'over_turns',
          termination_type: 'interrupted',
          num_turns: 2,
          detected_tools: [{ name: 'Read' }, { name: 'Read' }],
        })
        expect(execution('skill').detected_tools).toHaveLength(1)
        expect(report).toMatchObject({ processes: 1, executed: 2, infra: 0, invalid: 0 })
      }
    })

    onNewest(
      'what is not permitted is denied and reported, and the sandbox settings are valid for Claude Code',
      async () => {
        const { execution } = await lab.run({
          plugin,
          script,
          scenarios: [scenarioOf('careful', 'WRITE NOTES.', skill)],
          arms: ['without'],
          config: {
            execution: {
              permission_bypass: false,
              disallowed_tools: [],
              sandbox: { enabled: false, network: { allow_local_binding: true } },
            },
          },
        })
        expect(execution('careful')).toMatchObject({
          permission_denials: ['Write'],
          workspace_changes: [],
          detected_tools: [{ name: 'Write', success: false }],
          errors: [{ error_type: 'permission_denied' }],
        })
      },
    )

    onNewest(
      'what was recorded is replayed without a model, elsewhere and by the other strategy; a changed description asks for a new recording',
      async () => {
        const chosen = scenarios.filter(({ id: name }) => ['skill', 'agent', 'recalled'].includes(name))
        const cassettes = join(lab.dir, 'cassettes')
        const arms = ['without', 'alone'] as const
        const recorded = await lab.run({
          plugin,
          script,
          scenarios: chosen,
          arms,
          replay: 'record',
          cassettes,
        })
        expect(recorded.report).toMatchObject({ executed: 6, infra: 0, invalid: 0, processes: 2 })
        expect(existsSync(join(cassettes, 'skill/alone-1/cassette.json'))).toBe(true)
        const more = loadedBefore(recorded)
        const strict = { scenarios: chosen, replay: 'strict', cassettes, more } as const

        const elsewhere = join(lab.dir, 'another/place/for-it')
        mkdirSync(join(elsewhere, '..'), { recursive: true })
        cpSync(plugin.plugin_path, elsewhere, { recursive: true })
        const replayed = await lab.run({
          ...strict,
          plugin: { ...plugin, plugin_path: elsewhere },
          config: { execution: { session_strategy: 'isolated' } },
        })
        expect(replayed.report).toMatchObject({
          executed: 3,
          infra: 0,
          invalid: 0,
          processes: 3,
          cost_usd: 0,
        })
        for (const { trial, detected_tools, final_text } of replayed.executions) {
          const before = recorded.execution(trial.id)
          expect(detected_tools.map(({ name }) => name)).toEqual(
            before.detected_tools.map(({ name }) => name),
          )
          expect(final_text).toBe(before.final_text)
        }

        const changed = makeDemoPlugin(join(lab.dir, 'changed'), {
          description: 'Use for every kind of salutation.',
        })
        const stale = await lab.run({ ...strict, plugin: changed, arms })
        const needing = stale.executions.filter(({ needs_recording }) => needs_recording === true)
        expect(needing.map(({ trial }) => trial.id).sort()).toEqual([
          'agent.alone-1',
          'recalled.alone-1',
          'skill.alone-1',
        ])
        expect(needing[0]?.invalid).toContain('every kind of salutation')
        expect(stale.report).toMatchObject({ executed: 6, invalid: 3, infra: 0, processes: 2 })
        expect(stale.report.needs_recording).toHaveLength(3)
      },
    )

    onNewest('what is loaded is proven, and a broken plugin makes its trials invalid', async () => {
      const seen = await lab.request(
        { plugin, script, scenarios },
        { executions: [], transcripts: new Map(), steps: [], aside: [] },
      )
      const load = await checkPluginLoad(seen)
      expect(load).toMatchObject({
        loaded: true,
        load_cost_usd: 0,
        mcp_servers: [{ name: 'plugin:demo:weather', status: 'connected', tools: ['forecast'] }],
        warnings: [],
      })
      expect(load.registered_skills).toContain('demo:greet')
      const broken = makeDemoPlugin(join(lab.dir, 'broken'), {
        files: { 'hooks/hooks.json': '{"PreToolUse":[]}' },
      })
      const { report, execution } = await lab.run({
        plugin: broken,
        script,
        scenarios: scenarios.slice(0, 1),
        arms: ['without', 'alone'],
      })
      expect(report.load).toMatchObject({ loaded: false, error_type: 'hook_config_error' })
      expect(execution('skill.alone-1').invalid).toContain('Correct hooks/hooks.json')
      expect(execution('skill.without-1').invalid).toBeUndefined()
      expect(report).toMatchObject({ executed: 2, invalid: 1, processes: 1 })
    })

    test('nothing of the processes is left behind', () => {
      const left = readdirSync(lab.dir).flatMap((run) => {
        const processes = join(lab.dir, run, 'processes')
        return existsSync(processes) ? readdirSync(processes) : []
      })
      expect(left).toEqual([])
    })
  })

/** The load is looked at once; every process proves its own in any case. */
function loadedBefore({ report: { load } }: LabResult): Partial<ExecuteRequest> {
  return load === null ? {} : { load }
}

/** Without what no two runs have in common: times, ids, directories. */
function normal(execution: Execution): Execution {
  return JSON.parse(
    JSON.stringify(execution, (key, value) =>
      key === 'costUsd'
        ? Math.round(value * 1e9)
        : /^(timestamp|\w+_timestamp|\w*duration_ms|totalDurationMs|durationMs|session_strategy|hook_id|transcript_path)$/.test(
              key,
            )
          ? 0
          : value,
    )
      .replaceAll(/\/[^"\s]*\/p-[a-z0-9]{8}\//g, '{process}/')
      .replaceAll(/\b(?:agent[-_])?a[0-9a-f]{16}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '{id}'),
  )
}
