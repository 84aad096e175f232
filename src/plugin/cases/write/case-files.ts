import { stringify } from 'yaml'
import type { Analysis } from '../../analyze/contract.ts'
import { type AnyComponent, componentId, componentsById } from '../../component-list.ts'
import type { Grader, PluginScenario, ToolPattern } from '../../generate/contract.ts'
import { fileName, semanticTag } from '../case-scenario.ts'
import { quietTag, serverPattern } from '../expectation.ts'
import { historyFile } from '../history-file.ts'
import { scaffoldScript } from '../scaffold-files.ts'

/** Read-only tools, and those that start components. */
const usualTools = ['Read', 'Glob', 'Grep', 'Skill', 'Agent']

/** A scenario as the files of a case. `name` is set only when it differs from the directory's name. */
export function caseFiles(
  scenario: PluginScenario,
  plugin: Pick<Analysis, 'plugin_name' | 'components'>,
  name: string | undefined,
) {
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
  /** Content by path below the directory of the case. */
  const files: Readonly<Record<string, string>> = {
    'prompt.md': `---\n${yamlText(promptFields(scenario, name))}---\n\n${isPlain ? `${prompt}\n` : ''}`,
    ...(!isWhole && { 'case.yaml': yamlText(caseFile) }),
    ...(begun !== undefined && { 'scaffold.sh': scaffoldScript(begun) }),
    ...(before !== undefined && { 'history.jsonl': historyFile(before) }),
    ...Object.fromEntries(
      graders.map((grader) => [`graders/${fileName(grader.name, 'grader')}.md`, graderFile(grader)]),
    ),
  }
  return { files, ...(trigger?.note !== undefined && { note: trigger.note }) }
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

/** Fields that the format has no key for. */
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

interface TriggerGrader {
  readonly grader: Grader
  /** What the built-in runner cannot check. */
  readonly note?: string
}

const unseen =
  'the built-in runner does not show whether it fired, so its grader only checks for an answer; the tags hold the expectation for gantry'

/** The grader for whether the component should fire. The built-in runner cannot see hooks and typed commands. */
function triggerGrader(
  scenario: PluginScenario,
  plugin: Pick<Analysis, 'plugin_name' | 'components'>,
): TriggerGrader {
  const { component_type: type, expected_component, component_ref, expected_trigger: expected } = scenario
  const name = expected_component === '' ? component_ref : expected_component
  const known = componentsById(plugin.components).get(componentId(type, name))
  if (type === 'mcp_server') return { grader: serverGrader(name, known, plugin.plugin_name, expected) }
  if (type === 'hook' || (type === 'command' && scenario.user_prompt.startsWith('/')))
    return { grader: answerGrader, note: unseen }
  // As Claude Code calls it: the name of a skill's directory, not that of its frontmatter.
  const cliName = known?.component.cli_name ?? `${plugin.plugin_name}:${name.replaceAll('/', ':')}`
  const bare = cliName.startsWith(`${plugin.plugin_name}:`)
    ? cliName.slice(plugin.plugin_name.length + 1)
    : cliName
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

/** A grader as a file in the format of `claude plugin eval`. Defaults are omitted. */
function graderFile(grader: Grader): string {
  const { weight, arm } = grader
  const fields = {
    ...fieldsOf(grader),
    weight: weight === 1 ? undefined : weight,
    arm: arm === 'default' ? undefined : arm,
  }
  const body = grader.type === 'llm' || grader.type === 'baseline' ? bodyOf(grader.criteria) : ''
  return `---\n${yamlText(fields)}---\n${body === '' ? '' : `\n${body}\n`}`
}

function fieldsOf(grader: Grader): Readonly<Record<string, unknown>> {
  switch (grader.type) {
    case 'regex': {
      const { type, pattern, flags, match, target } = grader
      return {
        type,
        pattern,
        flags: flags === '' ? undefined : flags,
        match: match === 'contains' ? undefined : typeof match === 'object' ? `count:${match.count}` : match,
        target: target === 'last_message' ? undefined : target,
      }
    }
    case 'tool_used': {
      const { type, use, min, max } = grader
      return { type, ...toolFields(use), min: min === 1 ? undefined : min, max: max ?? undefined }
    }
    case 'tool_order':
      return { type: grader.type, before: toolFields(grader.before), after: toolFields(grader.after) }
    case 'file_exists':
      return { type: grader.type, path: grader.path, exists: grader.exists ? undefined : false }
    case 'llm': {
      const { type, focus, criteria } = grader
      return { type, focus: focus === 'last_message' ? undefined : focus, criteria: keyOf(criteria) }
    }
    case 'baseline':
      return { type: grader.type, baseline_file: grader.baseline_file, criteria: keyOf(grader.criteria) }
  }
}

function toolFields({ tool, input_match: match }: ToolPattern): Readonly<Record<string, unknown>> {
  return {
    tool,
    ...(match !== undefined && { input_match: typeof match === 'string' ? match : JSON.stringify(match) }),
  }
}

/** White space around the body of a file is lost, so such a criterion is written as a key. */
function keyOf(criteria: string): string | undefined {
  return criteria.trim() === criteria ? undefined : criteria
}

function bodyOf(criteria: string): string {
  return keyOf(criteria) === undefined ? criteria : ''
}

/** Keys and values as YAML; undefined values are omitted. Multi-line texts stay on one line, with escapes. */
function yamlText(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields, {
    lineWidth: 0,
    singleQuote: true,
    blockQuote: false,
    compat: 'yaml-1.1',
    doubleQuotedAsJSON: true,
  })
}
