import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeDemoPlugin } from '../../../test/support/demo-plugin.ts'
import {
  type ExecuteLab,
  type LabResult,
  type LabRun,
  openExecuteLab,
  scenarioOf,
} from '../../../test/support/execute-lab.ts'
import { createBudget } from '../../models/budget.ts'
import { runTrials } from '../../trials/run-trials.ts'
import { evaluatePlugin } from '../evaluate-plugin.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { Execution } from './contract.ts'
import { executeTrials } from './execute-trials.ts'
import { plannedPluginTrials } from './plan-trials.ts'
import { pluginTrials } from './plugin-trials.ts'

let lab: ExecuteLab
let plugin: ReturnType<typeof makeDemoPlugin>
let program: string
let states = 0

beforeAll(() => {
  program = join(mkdtempSync(join(tmpdir(), 'gantry-stand-in-')), 'claude')
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'fixtures/stand-in.mjs')}' "$@"\n`,
  )
  chmodSync(program, 0o755)
  lab = openExecuteLab(program)
  plugin = makeDemoPlugin(join(lab.dir, 'plugin'))
})
afterAll(async () => {
  await lab.close()
  rmSync(dirname(program), { recursive: true })
})

const skill = { component_type: 'skill', component_ref: 'greet' } as const
const ask = (id: string, prompt: string, more: Partial<PluginScenario> = {}): PluginScenario =>
  scenarioOf(id, prompt, skill, more)

/** Short waits for tests. */
const tuning = { retry: { max_retries: 2 }, timeouts: { retry_initial_ms: 100, retry_max_ms: 1_000 } }

function run(
  scenarios: readonly PluginScenario[],
  { mode = '', config, env, ...more }: Partial<LabRun> & { readonly mode?: string } = {},
): Promise<LabResult & { readonly state: string }> {
  states += 1
  const state = join(lab.dir, `state-${states}`)
  mkdirSync(state)
  const variables = { STAND_IN: mode, STAND_IN_STATE: state }
  const { execution = {}, ...rest } = (config ?? {}) as { execution?: { env?: object } }
  return lab
    .run({
      plugin,
      scenarios,
      ...(env !== undefined && { env }),
      config: { tuning, ...rest, execution: { ...execution, env: { ...variables, ...execution.env } } },
      ...more,
    })
    .then((result) => ({ ...result, state }))
}

const said = (result: LabResult): Record<string, string | null> =>
  Object.fromEntries(result.executions.map(({ trial, final_text }) => [trial.id, final_text]))
const toolsOf = ({ detected_tools }: Execution) => detected_tools.map(({ name, success }) => [name, success])
const promptsIn = (state: string) => readFileSync(join(state, 'prompts'), 'utf8').trim().split('\n')

describe('one process for a group', () => {
  test('takes turns with the processes of the other arms', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`)
    const { steps, report } = await run(
      names.map((name) => ask(name, 'hello')),
      { arms: ['without', 'alone'], config: { max_concurrent: 1 } },
    )
    expect(report).toMatchObject({ executed: 16, processes: 2 })
    const begun = steps.flatMap((step) => (step.kind === 'scenario_start' ? [step] : []))
    expect(begun.map(({ scenario }) => scenario)).toEqual(names.flatMap((name) => [name, name]))
    expect(new Set(begun.filter((_, index) => index % 2 === 0).map(({ arm }) => arm)).size).toBe(2)
  })

  test('answers one scenario after another, each with its own captures', async () => {
    const result = await run([
      ask('one', 'skill demo:greet'),
      ask('two', 'agent demo:reviewer'),
      ask('three', '/demo:hi Ada'),
      ask('four', 'refused'),
      ask('five', 'late'),
    ])
    const { execution, report, state } = result
    expect(new Set(promptsIn(state).map((line) => line.split(' ')[0])).size).toBe(1)
    expect(report).toMatchObject({ executed: 5, processes: 1, stopped: null, not_run: [] })
    expect(toolsOf(execution('one'))).toEqual([['Skill', true]])
    expect(execution('two')).toMatchObject({
      detected_tools: [
        { name: 'Agent', success: true },
        { name: 'Read', agent_type: 'demo:reviewer', agent_id: expect.stringContaining('agent-') },
      ],
      subagent_captures: [
        { agent_type: 'demo:reviewer', transcript_path: '/t.jsonl', stop_hook_active: false },
      ],
    })
    expect(execution('two').detected_tools[0]).not.toHaveProperty('agent_id')
    expect(execution('three').expansions).toMatchObject([
      { command_name: 'demo:hi', command_args: 'Ada', command_source: 'plugin' },
    ])
    expect(execution('four')).toMatchObject({
      detected_tools: [{ name: 'Write', success: false, error: 'PreToolUse:Write hook error: no' }],
    })
    expect(execution('five').detected_tools).toEqual([])
    expect(JSON.stringify(result.transcript('five'))).not.toContain('of a subagent')
    for (const { hook_responses, session_timing } of result.executions.filter(
      ({ scenario_id }) => scenario_id !== 'three' && scenario_id !== 'four',
    )) {
      expect(hook_responses.map(({ hook_name }) => hook_name)).toEqual([
        'SessionStart:startup',
        'SessionStart:clear',
        'Stop',
        'SessionEnd:clear',
      ])
      expect(session_timing).toMatchObject({
        starts: [{ source: 'startup' }, { source: 'clear', model: 'claude-sonnet-4-5' }],
        end: { reason: 'clear' },
      })
    }
    expect(execution('four').hook_responses).toContainEqual(
      expect.objectContaining({
        hook_name: 'PreToolUse:Write',
        outcome: 'error',
        exit_code: 2,
        stderr: 'no',
      }),
    )
  })

  test('gives the same results as one process per scenario', async () => {
    const scenarios = [ask('one', 'skill demo:greet'), ask('two', 'agent demo:reviewer'), ask('three', 'ls')]
    const [batched, isolated] = [
      await run(scenarios),
      await run(scenarios, { config: { execution: { session_strategy: 'isolated' } } }),
    ]
    expect([batched.report.processes, isolated.report.processes]).toEqual([1, 3])
    const normal = ({ executions }: LabResult) =>
      executions.map((execution) =>
        JSON.parse(
          JSON.stringify(execution, (key, value) =>
            /timestamp|duration_ms|agent_id|_id$|strategy/.test(key) ? 0 : value,
          ),
        ),
      )
    expect(normal(isolated)).toEqual(normal(batched))
    expect(batched.executions[0]).toMatchObject({
      session_strategy: 'batched_by_component',
      tokens: { input: 100, output: 10, cacheRead: 30, cacheWrite: 20 },
      model_usage: [{ model: 'claude-sonnet-4-5', tokens: { cacheRead: 30, cacheWrite: 20 } }],
      api_duration_ms: 7,
      num_turns: 2,
    })
  })

  test('sends the setup messages and clears them for the next scenario', async () => {
    const setup_messages = [
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
    ] as const
    const history = join(lab.dir, 'history.jsonl')
    const line = (role: string, content: unknown) =>
      JSON.stringify({ type: role, message: { role, content } })
    writeFileSync(
      history,
      `${line('user', 'Long ago.')}\n${line('assistant', [{ type: 'text', text: 'Yes.' }])}\n`,
    )
    const result = await run([
      ask('one', 'remembered', { setup_messages }),
      ask('two', 'remembered'),
      ask('three', 'remembered', { case: { dir: lab.dir, graders: [], history_file: history } }),
      ask('four', 'remembered', { case: { dir: lab.dir, graders: [], history_file: '/nonexistent.jsonl' } }),
    ])
    expect(said(result)).toMatchObject({
      'one.alone-1': 'user: I am Ada. | assistant: Hello Ada.',
      'two.alone-1': '',
      'three.alone-1': 'user: Long ago. | assistant: Yes.',
    })
    expect(result.execution('four').invalid).toContain('cannot be read')
  })

  test('is replaced when it dies, and the scenario that killed it is reported as crashed', async () => {
    const result = await run([ask('one', 'die'), ask('two', 'skill demo:greet')], {
      config: { tuning: { retry: { max_retries: 0 } } },
    })
    expect(result.execution('one')).toMatchObject({
      failure: { reason: 'unavailable' },
      termination_type: 'error',
      detected_tools: [],
    })
    expect(toolsOf(result.execution('two'))).toEqual([['Skill', true]])
    expect(result.report).toMatchObject({ processes: 2, infra: 1, executed: 2 })
  })

  test('is shared by scenarios with the same process settings, and not with different ones', async () => {
    const facts = { dir: '/', graders: [] }
    const { state } = await run(
      [
        ask('one', 'argv'),
        ask('two', 'argv', { needs_tools: ['Write'] }),
        ask('three', 'env EVAL_X', { case: { ...facts, env: { EVAL_X: '1' } } }),
        ask('four', 'argv', { case: { ...facts, append_system_prompt: 'Be brief.' } }),
        ask('five', 'argv', { case: { ...facts, max_turns: 3, timeout_ms: 9_000 } }),
        scenarioOf('six', 'argv', { component_type: 'agent', component_ref: 'reviewer' }),
      ],
      { arms: ['alone', 'without'] },
    )
    const pids = promptsIn(state).map((line) => line.split(' ')[0])
    expect(pids).toHaveLength(12)
    expect(new Set(pids).size).toBe(10)
  })
})

describe('a workspace', () => {
  const files = { 'a.txt': 'kept', 'sub/b.txt': 'kept too' }

  test('starts every scenario as a copy of a directory', async () => {
    const cwd = join(lab.dir, 'template')
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(cwd, path, '..'), { recursive: true })
      writeFileSync(join(cwd, path), text)
    }
    const result = await run(
      [
        ask('one', 'touch a.txt changed'),
        ask('two', 'ls'),
        ask('three', 'delete sub/b.txt'),
        ask('four', 'cat sub/b.txt'),
        ask('five', 'touch new/deep/c.txt x', { files: { 'own.txt': 'mine' } }),
        ask('six', 'ls'),
        ask('seven', 'cat a.txt'),
      ],
      { config: { execution: { cwd } } },
    )
    expect(result.report.processes).toBe(1)
    expect(result.executions.map(({ workspace_changes }) => workspace_changes)).toEqual([
      [{ path: 'a.txt', kind: 'modified' }],
      [],
      [{ path: 'sub/b.txt', kind: 'deleted' }],
      [],
      [{ path: 'new/deep/c.txt', kind: 'created' }],
      [],
      [],
    ])
    expect(said(result)).toMatchObject({
      'two.alone-1': 'a.txt sub sub/b.txt',
      'four.alone-1': 'kept too',
      'six.alone-1': 'a.txt sub sub/b.txt',
      'seven.alone-1': 'kept',
    })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('kept')
  })

  test('is restored by the agent first if configured, and the rest is reported', async () => {
    const config = { rewind_file_changes: true }
    const scenarios = [ask('one', 'touch a.txt'), ask('two', 'shell b.txt'), ask('three', 'ls')]
    const result = await run(scenarios, { config })
    expect(result.executions.map(({ warnings }) => warnings)).toEqual([
      [],
      ["restored after the agent's own rewind: b.txt"],
      [],
    ])
    expect(said(result)['three.alone-1']).toBe('')
    const refused = await run(scenarios.slice(0, 1), { config, mode: 'no-rewind' })
    expect(refused.execution('one').warnings).toEqual([
      'the agent did not restore its changes: no checkpoints',
    ])
  })

  test('is fresh when hooks write to it at the start of a conversation, and their changes are not the agent’s', async () => {
    const result = await run([ask('one', 'ls'), ask('two', 'ls')], { mode: 'litters' })
    expect(said(result)).toEqual({ 'one.alone-1': 'litter.txt', 'two.alone-1': 'litter.txt' })
    expect(result.executions.flatMap(({ workspace_changes }) => workspace_changes)).toEqual([])
  })

  test('that was removed ends its process and affects no other scenario', async () => {
    const result = await run([ask('one', 'remove-workspace'), ask('two', 'ls')])
    expect(result.report).toMatchObject({ processes: 2, executed: 2, infra: 0 })
    expect(result.execution('one').warnings.join()).toContain('removed its workspace')
    expect(said(result)['two.alone-1']).toBe('')
  })

  test('runs the script of a case only when that is allowed', async () => {
    const script = join(lab.dir, 'scaffold.sh')
    writeFileSync(script, 'echo "$EVAL_WORD" > made.txt; test "$EVAL_WORD" = good')
    const withWord = (word: string): PluginScenario =>
      ask(`case-${word}`, 'ls', {
        case: { dir: lab.dir, graders: [], scaffold_script: script, env: { EVAL_WORD: word } },
      })
    const refused = await run([withWord('good')])
    expect(refused.execution('case-good').invalid).toContain('are not allowed to run')
    const allowed = await run([withWord('good'), withWord('bad')], { more: { allowScaffold: true } })
    expect(said(allowed)['case-good.alone-1']).toBe('made.txt')
    expect(allowed.execution('case-good').workspace_changes).toEqual([])
    expect(allowed.execution('case-bad').invalid).toContain('failed (exit 1)')
  })

  test('carries no notes from one conversation to another', async () => {
    const result = await run([ask('one', 'memory'), ask('two', 'memory')])
    expect(said(result)).toEqual({ 'one.alone-1': 'I knew: ', 'two.alone-1': 'I knew: ' })
    expect(result.report.processes).toBe(1)
  })

  test('rejects files of a scenario that are outside of it', async () => {
    const result = await run([ask('one', 'ls', { files: { '../out.txt': 'x' } })])
    expect(result.execution('one').invalid).toContain('leads out of')
  })
})

describe('at a limit', () => {
  const soon = { dir: '/', graders: [], timeout_ms: 300 }

  test('a scenario is asked to stop, and the process continues', async () => {
    const result = await run([
      ask('one', 'hang', { case: soon }),
      ask('two', 'stop-and-hang', { case: soon }),
      ask('three', 'ls'),
    ])
    expect(result.execution('one')).toMatchObject({
      ending: 'timed_out',
      termination_type: 'interrupted',
      errors: [{ error_type: 'interrupted', recoverable: true }],
    })
    expect(result.execution('two')).toMatchObject({ ending: 'timed_out', termination_type: 'clean' })
    expect(result.report).toMatchObject({ processes: 1, infra: 0 })
  })

  test('it is killed at once if configured', async () => {
    const result = await run([ask('one', 'hang', { case: soon }), ask('two', 'ls')], {
      config: { execution: { timeout_strategy: 'abort_only' } },
    })
    expect(result.execution('one')).toMatchObject({
      ending: 'timed_out',
      termination_type: 'timeout',
      errors: [{ error_type: 'timeout', recoverable: false }],
    })
    expect(result.report).toMatchObject({ processes: 2, infra: 0 })
  })

  test('the budget stops new trials; the rest can run later, and nothing runs twice', async () => {
    const scenarios = ['one', 'two', 'three', 'four'].map((id) => ask(id, 'cost 0.4'))
    const budget = createBudget(1)
    const first = await run(scenarios, { budget })
    expect(first.report).toMatchObject({ executed: 2, stopped: 'budget' })
    expect(first.report.not_run).toEqual(['three.alone-1', 'four.alone-1'])
    expect(first.executions.map(({ cost_usd }) => cost_usd)).toEqual([0.4, 0.4])
    expect(budget.state().spentUsd).toBeCloseTo(0.8)
    expect(first.report.not_run_why).toEqual([
      'the budget of $1.00 has $0.2000 left, and a trial like it costs about $0.4000',
    ])
    const done = new Set(first.executions.map(({ trial }) => trial.id))
    const rest = await run(scenarios, { done, budget: createBudget(2, 0.8) })
    expect(rest.executions.map(({ trial }) => trial.id)).toEqual(['three.alone-1', 'four.alone-1'])
  })

  test('sessions that run at the same time do not split the budget: the first finishes, then the others that fit', async () => {
    const scenarios = ['one', 'two', 'three', 'four'].map((id) => ask(id, 'cost 0.08'))
    const budget = createBudget(0.3)
    const config = { max_concurrent: 4, execution: { session_strategy: 'isolated' } }
    const { report } = await run(scenarios, { budget, config })
    expect(report).toMatchObject({ executed: 3, lost_cost_usd: 0, not_run: [expect.anything()] })
    expect(budget.state().spentUsd).toBeCloseTo(0.24)
  })

  test('a trial that has begun is not cut while the run has money left', async () => {
    const scenarios = [ask('one', 'cost 0.02'), ask('two', 'cost 0.29'), ask('three', 'cost 0.02')]
    const budget = createBudget(0.6)
    const config = { max_concurrent: 4, execution: { session_strategy: 'isolated' } }
    const { report } = await run(scenarios, { budget, config })
    expect(report).toMatchObject({ executed: 3, stopped: null, lost_cost_usd: 0 })
    expect(budget.state()).toMatchObject({ spentUsd: expect.closeTo(0.33), reservedUsd: 0 })
  })

  test('a scenario that exceeds the budget is stopped and not judged', async () => {
    const result = await run([ask('one', 'cost 5'), ask('two', 'ls')], { budget: createBudget(1) })
    expect(result.report).toMatchObject({ stopped: 'budget', not_run: ['one.alone-1', 'two.alone-1'] })
    expect(result.report.lost_cost_usd).toBeGreaterThan(1)
    expect(result.aside).toEqual([
      { id: 'one.alone-1', costUsd: result.report.lost_cost_usd, why: 'over-budget' },
    ])
  })
})

test('orders and results survive JSON, so attempts can be made in another process', async () => {
  const state = join(lab.dir, 'state-json')
  mkdirSync(state)
  const kept: Parameters<ExecuteLab['request']>[1] = {
    executions: [],
    transcripts: new Map(),
    steps: [],
    aside: [],
  }
  const scenarios = [ask('one', 'cost 0.5'), ask('two', 'skill-then-fail-once')]
  const variables = { STAND_IN: '', STAND_IN_STATE: state }
  const config = { tuning, execution: { env: variables } }
  const budget = createBudget(2)
  const request = await lab.request({ plugin, scenarios, config, budget }, kept)
  const [one, two] = scenarios
  if (one === undefined || two === undefined) throw new Error('two scenarios')
  const planned = plannedPluginTrials(
    request,
    request.trials.map((trial) => ({ trial, scenario: trial.scenario_id === 'one' ? one : two })),
  )
  const kind = pluginTrials(request, { onProcess: () => {}, onKept: () => {}, onLost: () => {} })
  const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
  const left: (number | null)[] = []
  await runTrials(
    planned,
    {
      ...kind,
      attempt: async (order, context) => {
        expect(throughJson(order)).toEqual(order)
        left.push(order.maxCostUsd)
        const result = await kind.attempt(throughJson(order), context)
        expect(throughJson(result)).toEqual(result)
        return throughJson(result)
      },
    },
    {
      concurrency: 1,
      signal: request.signal,
      budget,
      retry: {
        mayHelp: () => true,
        maxRetries: 2,
        maxPauseMs: 0,
        longestWaitMs: 0,
        retryWaitMs: () => 0,
        limitWaitMs: () => 0,
      },
      note: () => {},
    },
  )
  expect(kept.executions.map(({ trial, cost_usd }) => [trial.id, cost_usd])).toMatchObject([
    ['one.alone-1', 0.5],
    ['two.alone-1', expect.anything()],
  ])
  expect(kept.executions[1]).toMatchObject({ infra_retries: 1, detected_tools: [{ name: 'Skill' }] })
  expect(left.slice(0, 2)).toEqual([2, 1.5])
})

describe('when infrastructure fails', () => {
  test('the trial is retried without anything of the failed attempt', async () => {
    const result = await run([ask('one', 'skill-then-fail-once'), ask('two', 'die-once')])
    expect(result.execution('one')).toMatchObject({
      infra_retries: 1,
      detected_tools: [{ name: 'Skill' }],
      termination_type: 'clean',
    })
    expect(result.execution('one').failure).toBeUndefined()
    expect(result.execution('one').detected_tools).toHaveLength(1)
    expect(result.transcript('one').events.filter(({ type }) => type === 'tool_result')).toHaveLength(1)
    expect(result.events('one.alone-1').filter(({ event }) => event === 'spawn')).toHaveLength(1)
    expect(result.execution('two')).toMatchObject({ infra_retries: 1, final_text: 'did die-once' })
    expect(result.steps.filter(({ kind }) => kind === 'note')).toHaveLength(2)
    expect(result.aside).toEqual([
      { id: 'one.alone-1', costUsd: expect.anything(), why: 'infra' },
      { id: 'two.alone-1', costUsd: null, why: 'infra' },
    ])
  })

  test.each([
    [401, 'invalid x-api-key', 1],
    [400, 'API Error: 400 invalid_request_error', 1],
    [403, 'API Error: 403 forbidden', 1],
    [404, 'API Error: 404 not_found_error: model', 1],
    [500, 'API Error: 500 internal server error', 3],
    [529, 'Overloaded', 3],
  ])('status %i is retried as often as it may help', async (status, words, tries) => {
    const result = await run([ask('one', `fail ${status} ${words}`)], { more: { maxPauseMs: 0 } })
    expect(promptsIn(result.state)).toHaveLength(tries)
    expect(result.execution('one').failure).toBeDefined()
    expect(result.report).toMatchObject({ infra: 1, executed: 1 })
  })

  test('all trials wait for a provider limit, longer than for other failures', async () => {
    const result = await run([ask('one', 'fail 429 rate limit'), ask('two', 'ls')], {
      config: { tuning: { ...tuning, retry: { max_retries: 1 } } },
      more: { maxPauseMs: 700 },
    })
    // Waits of 100 and 200 ms allow two retries more than the one for other failures.
    expect(promptsIn(result.state).length).toBeGreaterThan(3)
    expect(result.execution('one').failure?.reason).toBe('rate_limit')
    expect(result.execution('two').failure).toBeUndefined()
  })

  test('a program that does not start is not retried for every scenario of its group', async () => {
    const result = await run([ask('one', 'ls'), ask('two', 'ls'), ask('three', 'ls')], {
      mode: 'dies',
      arms: ['without'],
    })
    expect(result.report).toMatchObject({ infra: 3, processes: 3 })
    expect(result.execution('three')).toMatchObject({ infra_retries: 0, failure: { reason: 'unavailable' } })
  })
})

describe('the check of loaded plugins', () => {
  test.each([
    ['unloaded', 'Claude Code did not load'],
    ['broken', 'Hook load failed: nonsense'],
  ])('with %s makes only trials with the plugin invalid', async (mode, words) => {
    const result = await run([ask('one', 'ls'), ask('two', 'ls')], { mode, arms: ['without', 'alone'] })
    expect(result.execution('one.alone-1').invalid).toContain(words)
    expect(result.execution('two.without-1').invalid).toBeUndefined()
    expect(result.report).toMatchObject({ executed: 4, invalid: 2, processes: 1, load: { loaded: false } })
    expect(result.steps.filter(({ kind }) => kind === 'scenario_complete')).toHaveLength(4)
  })

  test('ends a run before scenarios are written and paid for', async () => {
    const cwd = join(lab.dir, 'whole')
    mkdirSync(cwd)
    const agents = { real: { driver: 'claude-code', binary: program, model_script: 'model.yaml' } }
    const execution = { agent: 'real', env: { STAND_IN: 'unloaded', STAND_IN_STATE: cwd } }
    writeFileSync(join(cwd, 'gantry.yaml'), JSON.stringify({ agents, plugin: { execution } }))
    writeFileSync(join(cwd, 'model.yaml'), 'turns: [{ text: never }]\n')
    const env = { PATH: process.env.PATH, HOME: cwd, AGENT_ARTIFACT_DIR: join(cwd, 'store') }
    await expect(
      evaluatePlugin({ cwd, env, overrides: { plugin: plugin.plugin_path } }),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('the plugin did not load: Claude Code did not load'),
      hint: expect.stringContaining('Nothing was paid'),
    })
    const [run = ''] = readdirSync(join(cwd, 'store/runs'))
    expect(readdirSync(join(cwd, 'store/runs', run))).not.toContain('scenarios.json')
  })

  test('applies to later processes too', async () => {
    const good = await run([])
    const load = { ...(good.report.load ?? (await loadedOnce())), loaded: true }
    const result = await run([ask('one', 'ls'), ask('two', 'ls')], { mode: 'unloaded', more: { load } })
    expect(result.executions.map(({ invalid }) => invalid)).toEqual([
      expect.stringContaining('Claude Code did not load'),
      expect.stringContaining('Claude Code did not load'),
    ])
    expect(result.report.processes).toBe(1)
  })

  test('fails for infrastructure reasons when it takes too long', async () => {
    const result = await run([ask('one', 'ls')], {
      mode: 'mute',
      config: { tuning: { timeouts: { plugin_load_ms: 5_000 } } },
    })
    expect(result.report.load).toMatchObject({
      loaded: false,
      error_type: 'timeout',
      recovery_hint: expect.stringContaining('plugin_load_ms'),
    })
    expect(result.execution('one').failure).toMatchObject({
      reason: 'timeout',
      message: expect.stringContaining('5000 ms'),
    })
  })

  test('skips scenarios of a server that is not connected and reports the reason', async () => {
    const weather = scenarioOf('weather', 'ls', { component_type: 'mcp_server', component_ref: 'weather' })
    const servers = (status: string) => ({
      execution: {
        env: { STAND_IN_SERVERS: JSON.stringify([{ name: 'plugin:demo:weather', status, error: 'gone' }]) },
      },
    })
    const failed = await run([weather, ask('one', 'ls')], { config: servers('failed') })
    expect(failed.report).toMatchObject({
      executed: 1,
      dropped: [{ trial: 'weather.alone-1', reason: 'the MCP server plugin:demo:weather is failed (gone)' }],
      load: { loaded: true, error_type: 'mcp_connection_failed' },
    })
    expect(failed.steps).toContainEqual(expect.objectContaining({ kind: 'note', level: 'warning' }))
    const locked = servers('needs-auth')
    expect((await run([weather], { config: locked })).report.dropped).toHaveLength(1)
    const tried = await run([weather], { config: { ...locked, mcp_servers: { skip_auth_required: false } } })
    expect(tried.report).toMatchObject({ dropped: [], executed: 1 })
    const absent = await run([ask('one', 'ls')], {
      more: {
        plugin: {
          ...plugin,
          components: {
            ...plugin.components,
            skills: plugin.components.skills.map((one) => ({ ...one, cli_name: 'demo:lost' })),
          },
        },
      },
    })
    expect(absent.report.load?.warnings.join()).toContain('did not register the skill demo:lost')
  })
})

describe('the stored result', () => {
  test('contains no secrets in inputs, captures, transcript or log', async () => {
    const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'
    const result = await run([ask('one', `touch a.txt ${secret}`)])
    const kept = JSON.stringify([result.executions, [...result.transcripts], result.events('one.alone-1')])
    expect(kept).not.toContain(secret)
    expect(result.execution('one').trial.id).toBe('one.alone-1')
    const hidden = await run([ask('one', 'touch a.txt ada@example.org')], {
      more: {
        sanitize: (value) => JSON.parse(JSON.stringify(value).replaceAll('ada@example.org', '[hidden]')),
      },
    })
    expect(JSON.stringify([hidden.executions, [...hidden.transcripts]])).not.toContain('ada@example.org')
  })

  test('reports denied permissions, and every trial with its name in the pipeline', async () => {
    const result = await run([ask('one', 'denied')], { config: { execution: { num_reps: 2 } } })
    expect(result.execution('one')).toMatchObject({
      permission_denials: ['Write'],
      errors: [{ error_type: 'permission_denied' }],
    })
    expect(result.executions.map(({ trial }) => trial)).toMatchObject([
      { id: 'one.alone-1', rep: 1 },
      { id: 'one.alone-2', rep: 2 },
    ])
    expect(result.steps.map(({ kind }) => kind)).toEqual([
      'scenario_start',
      'scenario_complete',
      'scenario_start',
      'scenario_complete',
    ])
  })
})

test('a resumed run has in its ledger and its manifest what a session had cost that was killed in the middle', async () => {
  const cwd = join(lab.dir, 'begun')
  mkdirSync(cwd)
  const agents = {
    real: { driver: 'claude-code', binary: program, model_script: 'model.yaml', meter: 'always' },
  }
  const scenario = { id: 'one', ...skill, user_prompt: 'ls', expected_trigger: false }
  const config = {
    scenarios: ['mine.yaml'],
    scope: { skills: false, agents: false, commands: false },
    execution: { agent: 'real', env: { STAND_IN: '', STAND_IN_STATE: cwd } },
  }
  writeFileSync(join(cwd, 'gantry.yaml'), JSON.stringify({ agents, plugin: config }))
  writeFileSync(join(cwd, 'mine.yaml'), JSON.stringify([scenario]))
  writeFileSync(join(cwd, 'model.yaml'), 'turns: [{ text: never }]\n')
  const env = { PATH: process.env.PATH, HOME: cwd, AGENT_ARTIFACT_DIR: join(cwd, 'store') }
  const [first] = await evaluatePlugin({ cwd, env, overrides: { plugin: plugin.plugin_path } })
  const { runId = '', runDir = '' } = first ?? {}
  const trial = join(runDir, 'trials/one.alone-1')
  const usage = { ts: 1, event: 'usage', model: 'claude-sonnet-4-5', cost_usd: 0.25 }
  writeFileSync(join(trial, 'events.jsonl'), `${JSON.stringify(usage)}\n`)
  rmSync(join(trial, 'execution.json'))
  await evaluatePlugin({ cwd, env, resume: { run: runId } })
  const read = (name: string) => JSON.parse(readFileSync(join(runDir, name), 'utf8'))
  expect(read('evaluation.json').summary.costs).toMatchObject({
    total_cost_usd: 0.25,
    lost_cost_usd: 0.25,
    ledger: expect.arrayContaining([
      expect.objectContaining({ kind: 'lost', model: 'claude-sonnet-4-5', paid_usd: 0.25 }),
    ]),
  })
  expect(readdirSync(join(runDir, 'trials')).sort()).toEqual(['one.alone-1', 'one.alone-1.interrupted-1'])
  expect(read('manifest.json')).toMatchObject({ totals: { cost_usd: 0.25 }, details: { spent_usd: 0.25 } })
  await evaluatePlugin({ cwd, env, resume: { run: runId } })
  expect(read('evaluation.json').summary.costs).toMatchObject({ total_cost_usd: 0.25 })
})

test('an interruption keeps finished trials and reports the others', async () => {
  const stop = new AbortController()
  const result = await run([ask('one', 'ls'), ask('two', 'hang'), ask('three', 'ls')], {
    more: {
      signal: stop.signal,
      onStep: (step) => {
        if (step.kind === 'scenario_start' && step.scenario === 'two') setTimeout(() => stop.abort(), 200)
      },
    },
  })
  expect(result.executions.map(({ scenario_id }) => scenario_id)).toEqual(['one'])
  expect(result.report).toMatchObject({ stopped: 'interrupted', not_run: ['two.alone-1', 'three.alone-1'] })
})

test('a trial that cannot be stored ends the execution with the reason', async () => {
  const full = run([ask('one', 'ls'), ask('two', 'ls')], {
    more: {
      keep: () => {
        throw new Error('the disk is full')
      },
    },
  })
  await expect(full).rejects.toThrow('the disk is full')
})

test('groups run in parallel, even when their starts are spaced', async () => {
  const scenarios = ['a', 'b', 'c'].map((name) =>
    scenarioOf(name, 'hang', { component_type: 'skill', component_ref: name } as const, {
      case: { dir: '/', graders: [], timeout_ms: 2_000 },
    }),
  )
  const order: string[] = []
  const { report } = await run(scenarios, {
    arms: ['without'],
    config: { max_concurrent: 3, execution: { requests_per_second: 20 } },
    more: { onStep: ({ kind }) => order.push(kind) },
  })
  expect(report.processes).toBe(3)
  expect(order.slice(0, 3)).toEqual(['scenario_start', 'scenario_start', 'scenario_start'])
})

test('a process gets only what the configuration says, and nothing from the caller', async () => {
  const { execution, executions } = await run(
    [
      ...[
        'MAX_THINKING_TOKENS',
        'MCP_TIMEOUT',
        'CLAUDE_CODE_MAX_RETRIES',
        'OWN_WORD',
        'SECRET_OF_CALLER',
      ].map((name) => ask(name, `env ${name}`)),
      ask('argv', 'argv'),
    ],
    {
      env: { SECRET_OF_CALLER: 'x' },
      crowd: ['/plugins/other'],
      config: {
        mcp_servers: { connection_timeout_ms: 4_000 },
        execution: {
          env: { OWN_WORD: 'mine' },
          max_thinking_tokens: 500,
          permission_bypass: false,
          allowed_tools: ['WebFetch'],
          additional_directories: ['/data'],
          sandbox: { enabled: true, network: { allow_local_binding: true } },
        },
      },
    },
  )
  expect(executions.slice(0, 5).map(({ final_text }) => final_text)).toEqual([
    'MAX_THINKING_TOKENS=500',
    'MCP_TIMEOUT=4000',
    'CLAUDE_CODE_MAX_RETRIES=0',
    'OWN_WORD=mine',
    'SECRET_OF_CALLER=',
  ])
  const argv = execution('argv').final_text ?? ''
  expect(argv).toContain(`--plugin-dir ${plugin.plugin_path} `)
  expect(argv).not.toContain('/plugins/other')
  expect(argv).toContain('--allowedTools WebFetch Skill SlashCommand Task Agent Read Glob Grep')
  expect(argv).toContain('--disallowedTools Write Edit Bash')
  expect(argv).toContain('--add-dir /data')
  expect(argv).toContain('--permission-mode default')
  expect(argv).toContain('--setting-sources= ')
  expect(argv).toContain('--settings {"sandbox":{"enabled":true,"network":{"allowLocalBinding":true}}}')
})

test('an agent with another driver is rejected before anything starts', async () => {
  const asked = await lab.request(
    { plugin, scenarios: [ask('one', 'ls')] },
    { executions: [], transcripts: new Map(), steps: [], aside: [] },
  )
  const agent = { ...asked.agent, driver: { ...asked.agent.driver, name: 'codex' } }
  await expect(executeTrials({ ...asked, agent })).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('claude-code'),
  })
})

test('with debug set, the files of a process are kept', async () => {
  const asked = await lab.request(
    { plugin, scenarios: [ask('one', 'touch a.txt')], arms: ['without'], config: { debug: true } },
    { executions: [], transcripts: new Map(), steps: [], aside: [] },
  )
  await executeTrials(asked)
  const [process = ''] = readdirSync(asked.workDir)
  expect(readdirSync(join(asked.workDir, process)).sort()).toEqual(['home', 'tmp', 'workspace'])
  rmSync(asked.workDir, { recursive: true })
})

test('no files of the processes are left behind', () => {
  const left = readdirSync(lab.dir)
    .filter((name) => name.startsWith('run-'))
    .flatMap((name) =>
      readdirSync(join(lab.dir, name)).includes('processes')
        ? readdirSync(join(lab.dir, name, 'processes'))
        : [],
    )
  expect(left).toEqual([])
})

async function loadedOnce() {
  const { report } = await run([ask('one', 'ls')])
  if (report.load === null) throw new Error('nothing was loaded')
  return report.load
}
