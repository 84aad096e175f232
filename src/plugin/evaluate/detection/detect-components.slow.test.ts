import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type SampleLine,
  sampleExecution,
  sampleKnown,
  sampleScenario,
  sampleTranscript,
} from '../../../../test/support/plugin-samples.ts'
import { pluginConfigSchema } from '../../config/keys/schema.ts'
import { type Arm, arms } from '../../contract.ts'
import type { Execution } from '../../execute/contract.ts'
import { confidences } from '../contract.ts'
import { ambiguityOf } from '../decide-trigger.ts'
import { evaluateTrial } from '../evaluate-trial.ts'
import { detectComponents } from './detect-components.ts'

/** Valid names, nearly valid names, and arbitrary ones. */
const name = fc.oneof(
  fc.constantFrom(
    ...sampleKnown.all.flatMap((component) => [component.name, component.cli_name]),
    'demo:',
    ':greet',
    '/demo:greet',
    '__proto__',
    'constructor',
    'mcp__plugin_demo_',
    'mcp__plugin_demo_a__',
    'general-purpose',
  ),
  fc.string(),
)
const input = fc.oneof(
  fc.anything(),
  fc.record({ skill: name }),
  fc.record({ command: name }),
  fc.record({ subagent_type: name }),
)
const time = fc.oneof(fc.integer({ min: 1_780_000_000_000, max: 1_800_000_000_000 }), fc.double())
const tool = fc.oneof(
  fc.constantFrom('Skill', 'Agent', 'Task', 'SlashCommand', 'Write'),
  name.map((server) => `mcp__${server}__x`),
  fc.string(),
)
const capture = fc.record(
  {
    name: tool,
    input,
    tool_use_id: fc.constantFrom('', 'a', 'b', 'c'),
    timestamp: time,
    success: fc.boolean(),
  },
  { requiredKeys: ['name', 'input', 'tool_use_id', 'timestamp'] },
)
const event = fc.constantFrom(
  'PreToolUse',
  'Stop',
  'SessionStart',
  'SubagentStop',
  'UserPromptExpansion',
  'x',
)
const response = fc.record(
  {
    hook_name: fc.oneof(
      event,
      fc.tuple(event, fc.oneof(name, tool)).map((parts) => parts.join(':')),
    ),
    hook_event: event,
    stdout: fc.string(),
    stderr: fc.string(),
    outcome: fc.constantFrom('success', 'error', 'cancelled', 'unknown'),
    exit_code: fc.integer(),
    timestamp: time,
  },
  { requiredKeys: ['hook_name', 'hook_event', 'stdout', 'stderr', 'outcome', 'timestamp'] },
)
const execution = fc
  .record({
    arm: fc.constantFrom<Arm>(...arms),
    detected_tools: fc.array(capture, { maxLength: 6 }),
    subagent_captures: fc.array(
      fc.record({ agent_id: fc.string(), agent_type: name, start_timestamp: time }),
      { maxLength: 3 },
    ),
    expansions: fc.array(fc.record({ command_name: name, command_args: fc.string(), timestamp: time }), {
      maxLength: 3,
    }),
    hook_responses: fc.array(response, { maxLength: 4 }),
    session_timing: fc.record({
      starts: fc.array(fc.record({ source: fc.string(), timestamp: time }), { maxLength: 2 }),
      end: fc.record({ reason: fc.string(), timestamp: time }),
    }),
    termination_type: fc.constantFrom('clean', 'timeout', 'interrupted', 'error'),
  })
  .map(({ arm, ...traces }): Execution => {
    const made = sampleExecution(traces as Partial<Execution>)
    return { ...made, trial: { ...made.trial, arm } }
  })
const line: fc.Arbitrary<SampleLine> = fc.oneof(
  fc.record({
    user: fc.oneof(
      fc.string(),
      name.map((command) => `/${command} x`),
    ),
  }),
  fc.record({
    assistant: fc.string(),
    calls: fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'd'), name: tool, input }), { maxLength: 3 }),
  }),
  fc.record({ result: fc.constantFrom('a', 'b', 'c', 'd'), error: fc.boolean() }),
)
const transcript = fc.option(fc.array(line, { maxLength: 8 }).map((lines) => sampleTranscript(lines)))
const scenario = fc
  .record({
    component: fc.constantFrom(...sampleKnown.all.filter(({ own }) => own)),
    expected_trigger: fc.boolean(),
  })
  .map(({ component, expected_trigger }) =>
    sampleScenario({
      component_type: component.type,
      component_ref: component.name,
      expected_component: component.name,
      expected_trigger,
    }),
  )
const config = fc
  .record({ enabled: fc.boolean(), cross_plugin: fc.boolean() })
  .map((conflict_detection) => pluginConfigSchema.parse({ conflict_detection }))

test('detection handles any captures, lists each component once and uses the confidence of its source', () => {
  fc.assert(
    fc.property(execution, transcript, (ran, said) => {
      const found = detectComponents(ran, said, sampleKnown)
      const keys = found.map(({ component_type, plugin, name: called }) =>
        JSON.stringify([component_type, plugin, called]),
      )
      expect(new Set(keys).size).toBe(keys.length)
      for (const { confidence, source, name: called } of found) {
        expect(confidence).toBe(confidences[source])
        expect(called.length).toBeLessThanOrEqual(200)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('any captures give a verdict that fits the gate, and always the same one', () => {
  fc.assert(
    fc.property(execution, transcript, scenario, config, (ran, said, asked, settings) => {
      const given = {
        scenario: asked,
        trial: ran.trial,
        execution: ran,
        transcript: said,
        known: sampleKnown,
        config: settings,
        judgement: null,
        graderGates: [],
      }
      const found = evaluateTrial(given)
      expect(evaluateTrial(given)).toEqual(found)
      expect(found.reason).not.toBe('')
      expect(JSON.parse(JSON.stringify(found)).verdict).toBe(found.verdict)
      if (ran.trial.arm !== 'without') {
        expect(found.gates[0]?.passed).toBe(found.triggered === found.expected_trigger)
        expect(found.verdict === 'pass').toBe(found.gates[0]?.passed)
      }
      expect(found.confidence).toBeGreaterThanOrEqual(0.6)
      const seen = detectComponents(ran, said, sampleKnown)
      const isUnsure = ambiguityOf({ ...given, detections: seen }) !== null
      if (!isUnsure && !found.triggered) expect(found.confidence).toBe(1)
      if (!settings.conflict_detection.enabled) expect(found.conflict.conflict_severity).toBe('none')
    }),
    { numRuns: 1_000 },
  )
})

test('the order of captures does not matter', () => {
  fc.assert(
    fc.property(execution, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (ran, order) => {
      const distinct = ran.detected_tools.map((one, index) => ({
        ...one,
        timestamp: 1_790_000_000_000 + index,
      }))
      const keyed = distinct.map((one) => ({ one, at: order.next().value ?? 0 }))
      const shuffled = keyed.toSorted((a, b) => a.at - b.at).map(({ one }) => one)
      const found = (detected_tools: Execution['detected_tools']) =>
        detectComponents(
          { ...ran, detected_tools, subagent_captures: [], expansions: [], hook_responses: [] },
          null,
          sampleKnown,
        )
      // Two captures of one call may contradict each other; then the last one counts.
      fc.pre(new Set(distinct.map(({ tool_use_id }) => tool_use_id)).size === distinct.length)
      expect(found(shuffled)).toEqual(found(distinct))
    }),
    { numRuns: 1_000 },
  )
})
