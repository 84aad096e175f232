import type { Analysis } from '../../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../../component-list.ts'
import type { Grader, PluginScenario } from '../../generate/contract.ts'
import { semanticTag } from '../case-scenario.ts'
import { quietTag, serverPattern } from '../expectation.ts'
import { historyFile } from '../history-file.ts'
import { scaffoldScript } from '../scaffold-files.ts'
import { graderFile, yamlText } from './grader-file.ts'

export interface CaseFiles {
  /** Content by path below the directory of the case. */
  readonly files: Readonly<Record<string, string>>
  readonly note?: string
}

/** Read-only tools, and those by which components are started. */
const usualTools = ['Read', 'Glob', 'Grep', 'Skill', 'Agent']

/** A scenario as the files of a case. `name` only when it is not that of the directory. */
export function caseFiles(
  scenario: PluginScenario,
  plugin: Pick<Analysis, 'plugin_name' | 'components'>,
  name: string | undefined,
): CaseFiles {
  const { case: facts, component_ref, setup_messages: before, files: begun, user_prompt: prompt } = scenario
  const trigger = component_ref === '' ? null : triggerGrader(scenario, plugin)
  const own = facts?.graders ?? []
  const graders = trigger === null || own.length > 0 ? own : [trigger.grader]
  // White space around the text of prompt.md is lost, so such a prompt is written to case.yaml.
  const isPlain = prompt.trim() === prompt
  const context = {
    ...(begun !== undefined && { scaffold_script: 'scaffold.sh' }),
    ...(before !== undefined && { history_file: 'history.jsonl' }),
  }
  const caseFile = {
    schema_version: '1.1',
    name: name ?? scenario.id,
    ...(Object.keys(context).length > 0 && { context }),
    ...(!isPlain && { execution: { prompt } }),
  }
  const isWhole = isPlain && Object.keys(context).length === 0
  return {
    files: {
      'prompt.md': `---\n${yamlText(promptFields(scenario, name))}---\n\n${isPlain ? `${prompt}\n` : ''}`,
      ...(!isWhole && { 'case.yaml': yamlText(caseFile) }),
      ...(begun !== undefined && { 'scaffold.sh': scaffoldScript(begun) }),
      ...(before !== undefined && { 'history.jsonl': historyFile(before) }),
      ...Object.fromEntries(
        graders.map((grader) => [`graders/${fileName(grader.name)}.md`, graderFile(grader)]),
      ),
    },
    ...(trigger?.note !== undefined && { note: trigger.note }),
  }
}

function promptFields(scenario: PluginScenario, name: string | undefined): Readonly<Record<string, unknown>> {
  const { case: facts, reasoning, needs_tools: needed = [] } = scenario
  const seconds = facts?.timeout_ms === undefined ? undefined : Math.ceil(facts.timeout_ms / 1_000)
  return {
    name,
    description: reasoning,
    tags: tagsOf(scenario),
    runs: facts?.runs,
    model: facts?.model,
    max_turns: facts?.max_turns,
    timeout_seconds: seconds,
    allowed_tools: facts?.allowed_tools ?? [...usualTools, ...needed],
    disallowed_tools: facts?.disallowed_tools,
    append_system_prompt: facts?.append_system_prompt,
    env: facts?.env,
  }
}

/** What the format has no key for. */
function tagsOf(scenario: PluginScenario): readonly string[] {
  const {
    tags = [],
    scenario_type,
    semantic_variation_type: variation,
    expected_trigger,
    component_ref,
  } = scenario
  if (component_ref === '') return tags
  return [
    ...tags,
    scenario_type,
    ...(variation === undefined ? [] : [`${semanticTag}${variation}`]),
    componentId(scenario.component_type, scenario.expected_component || component_ref),
    ...(expected_trigger ? [] : [quietTag]),
  ]
}

/** A grader's name as a valid file name. */
function fileName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? 'grader' : plain
}

interface TriggerGrader {
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
function triggerGrader(
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
