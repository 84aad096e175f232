import type { Analysis } from '../../analyze/contract.ts'
import { type AnyComponent, componentList } from '../../component-list.ts'
import type { Grader, PluginScenario } from '../../generate/contract.ts'
import { serverPattern } from '../expectation.ts'

export interface TriggerGrader {
  readonly grader: Grader
  /** What the built-in runner cannot see of it. */
  readonly note?: string
}

const unseen =
  'the built-in runner does not show whether it fired, so its grader only checks for an answer; the tags hold the expectation for gantry'

/**
 * The grader for whether the component of a scenario should fire. Hooks, and commands that a user types, leave no mark in
 * what the built-in runner looks at.
 */
export function triggerGrader(
  scenario: PluginScenario,
  plugin: Pick<Analysis, 'plugin_name' | 'components'>,
): TriggerGrader {
  const { component_type: type, expected_component, component_ref, expected_trigger: expected } = scenario
  const name = expected_component === '' ? component_ref : expected_component
  const known = componentList(plugin.components).find(
    (one) => one.type === type && one.component.name === name,
  )
  if (type === 'mcp_server') return { grader: serverGrader(name, known, plugin.plugin_name, expected) }
  if (type === 'hook' || (type === 'command' && scenario.user_prompt.startsWith('/')))
    return { grader: answerGrader, note: unseen }
  const bare = name.replaceAll('/', ':')
  const key = type === 'agent' ? 'subagent_type' : 'skill'
  const use = {
    tool: type === 'agent' ? 'Agent' : 'Skill',
    input_match: `"${key}"\\s*:\\s*"(?:${escaped(plugin.plugin_name)}:)?${escaped(bare)}"`,
  }
  return { grader: { ...facts, type: 'tool_used', use, min: expected ? 1 : 0, max: expected ? null : 0 } }
}

const facts = { name: 'triggers', weight: 1, arm: 'default' } as const

/** Only checks that the agent answered. */
const answerGrader: Grader = {
  ...facts,
  name: 'answers',
  type: 'regex',
  pattern: '\\S',
  flags: '',
  match: 'contains',
  target: 'last_message',
}

/** `tool_used` needs the name of one tool; whether any tool of a server was called is only visible in the trace. */
function serverGrader(
  name: string,
  known: AnyComponent | undefined,
  plugin: string,
  expected: boolean,
): Grader {
  const prefix =
    known?.type === 'mcp_server' ? known.component.tool_prefix : `mcp__plugin_${plugin}_${name}__`
  return {
    ...facts,
    type: 'regex',
    pattern: serverPattern(prefix),
    flags: '',
    match: expected ? 'contains' : 'not_contains',
    target: 'trace',
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
