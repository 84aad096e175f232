import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionStrategy } from '../../../src/plugin/execute/contract.ts'
import { type Behaviour, behaviours, verdictOf } from '../../e2e/plugin/behaviours.ts'
import { type Evaluated, evaluated, firedIn, kitchenProject, trialOf } from '../../e2e/plugin/lab.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { whenInstalled } from './when-installed.ts'

const argv = ['run', '--filter', 'how-', '-j', '2']

// Real Claude Code, the plugin really loaded, its servers really started; the model is a script.
export function describePluginRun(id: string): void {
  whenInstalled([id], `a plugin evaluated with ${id}`, () => {
    let project: TestProject
    let run: Evaluated

    beforeAll(async () => {
      project = kitchenProject({ id, behaviours })
      run = await evaluated(project, argv)
    }, 600_000)
    afterAll(() => project?.[Symbol.dispose]())

    test('has a trial for every way in which its components are treated', () => {
      expect(run.trials.map(({ scenario_id }) => scenario_id).toSorted()).toEqual(
        behaviours.map((behaviour) => behaviour.id).toSorted(),
      )
      expect(run.code).toBe(1)
      expect(run.document.plugin_load_result).toMatchObject({ loaded: true, plugin_name: 'kitchen' })
    })

    test.each(behaviours)('$id', (behaviour) => {
      // The older one answers an unknown command itself and names the one that was meant, so that the traces leave a doubt.
      const confidence = id.endsWith('old') && behaviour.id === 'how-command-typed-unknown' ? 0.8 : 1
      expectTreatment(run, behaviour, { confidence, strategy: 'batched_by_component' })
    })

    test('counts trials, rates and conflicts as they were', () => {
      const { summary } = run.document
      const share = (hits: number, of: number): object => ({ value: expect.closeTo(hits / of), n: of })
      expect(summary.counts).toEqual({ pass: 37, fail: 18, infra: 0, invalid: 3 })
      expect(summary).toMatchObject({
        total_scenarios: 58,
        triggered_count: 37,
        accuracy: share(37, 55),
        trigger_rate: share(37, 55),
        conflicts: { count: 18, by_severity: { low: 5, medium: 5, high: 8 } },
        by_scenario_type: {
          direct: { scenarios_count: 45, accuracy: share(32, 45), false_negatives: 13, false_positives: 0 },
          negative: { scenarios_count: 10, accuracy: share(5, 10), false_negatives: 0, false_positives: 5 },
        },
      })
      for (const type of ['skill', 'agent', 'mcp_server'] as const)
        expect(summary.by_component_type[type], type).toMatchObject({
          scenarios_count: 11,
          accuracy: share(7, 11),
          trigger_rate: share(7, 11),
          false_negatives: 3,
          false_positives: 1,
        })
      expect(summary.by_component_type.hook).toMatchObject({
        scenarios_count: 8,
        accuracy: share(7, 8),
        false_negatives: 0,
        false_positives: 1,
      })
      expect(summary.by_component_type.command).toMatchObject({
        scenarios_count: 14,
        accuracy: share(9, 14),
        false_negatives: 4,
        false_positives: 1,
      })
      // It fired in place of the agent and of the server, once each.
      expect(summary.by_component['skill:brew-tea']).toMatchObject({
        true_positives: 6,
        false_negatives: 3,
        false_positives: 1,
        true_negatives: 1,
        fired_instead: 2,
        recall: share(6, 9),
        precision: share(6, 9),
      })
      for (const { low, high, value } of [summary.accuracy, summary.trigger_rate, summary.pass_rate]) {
        expect(low).toBeLessThan(value ?? 0)
        expect(high).toBeGreaterThan(value ?? 1)
      }
    })

    test('shows which component fired instead', () => {
      const rows = run.document.summary.confusion.map(({ expected, fired }) => [
        expected,
        Object.fromEntries(fired.map(({ component, count }) => [component, count])),
      ])
      expect(Object.fromEntries(rows)).toEqual({
        'skill:brew-tea': { 'skill:brew-tea': 6, 'skill:bake-bread': 1, 'agent:taster': 1, none: 1 },
        'agent:taster': { 'agent:taster': 6, 'agent:gardener': 1, 'skill:brew-tea': 1, none: 1 },
        'command:set-table': {
          'command:set-table': 7,
          'command:tidy/clean': 1,
          'mcp_server:pantry': 1,
          none: 2,
        },
        'command:tidy/clean': { 'command:tidy/clean': 1 },
        'hook:PreToolUse::Write|Edit': {
          'hook:PreToolUse::Write|Edit': 6,
        },
        'mcp_server:pantry': {
          'mcp_server:pantry': 6,
          'mcp_server:cellar': 1,
          'skill:brew-tea': 1,
          none: 1,
        },
        none: {
          none: 5,
          'skill:brew-tea': 1,
          'agent:taster': 1,
          'command:set-table': 1,
          'hook:PreToolUse::Write|Edit': 1,
          'mcp_server:pantry': 1,
        },
      })
    })
  })
}

/** Every scenario in its own process: the result must be the same. */
export function describeIsolatedRun(): void {
  whenInstalled(['claude-code'], 'a session for every scenario', () => {
    // Each of the others differs from one of these only in what is expected of it, or in a second call.
    const tried = behaviours.filter(({ id }) =>
      /-(?:rightly|wrongly|late|twice|instead|inside|never|typed)$/.test(id),
    )
    let project: TestProject
    let isolated: Evaluated
    let batched: Evaluated

    beforeAll(async () => {
      project = kitchenProject({ id: 'claude-code', behaviours: tried })
      isolated = await evaluated(project, [...argv, '--isolated'])
      batched = await evaluated(project, argv)
    }, 600_000)
    afterAll(() => project?.[Symbol.dispose]())

    test.each(tried)('gives the same for $id', (behaviour) => {
      expectTreatment(isolated, behaviour, { confidence: 1, strategy: 'isolated' })
      expect(capturesOf(isolated, behaviour)).toEqual(capturesOf(batched, behaviour))
    })
  })
}

interface Treatment {
  readonly confidence: number
  readonly strategy: SessionStrategy
}

function expectTreatment(run: Evaluated, behaviour: Behaviour, { confidence, strategy }: Treatment): void {
  const { triggered, severity, fired } = behaviour.expect
  const trial = trialOf(run, behaviour.id)
  const verdict = verdictOf(behaviour)
  expect(firedIn(trial)).toEqual(fired)
  expect(trial).toMatchObject({
    triggered,
    confidence,
    detection_source: 'programmatic',
    verdict,
    conflict: { conflict_severity: severity, has_conflict: severity !== 'none' },
    gates: [{ type: 'component_triggered', passed: verdict === 'pass' }],
  })
  expect(trial.detections.map((detection) => detection.confidence)).toEqual(fired.map(() => 1))
  expect(run.execution(trial.trial.id)).toMatchObject({
    session_strategy: strategy,
    termination_type: 'clean',
    ending: 'exited',
    errors: [],
  })
}

/** What was seen of a trial, but for when and where. */
function capturesOf(run: Evaluated, { id }: Behaviour): unknown {
  const { detected_tools, expansions, subagent_captures, hook_responses } = run.execution(
    trialOf(run, id).trial.id,
  )
  return {
    tools: detected_tools.map(({ name, input, success, agent_type }) => ({
      name,
      input: JSON.stringify(input).replaceAll(/"\/[^"]*\//g, '"…/'),
      success,
      agent_type,
    })),
    expansions: expansions.map(({ command_name, command_args }) => [command_name, command_args]),
    subagents: subagent_captures.map(({ agent_type }) => agent_type),
    hooks: hook_responses.map(({ hook_name, outcome }) => [hook_name, outcome]),
  }
}
