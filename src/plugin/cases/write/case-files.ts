import type { Analysis } from '../../analyze/contract.ts'
import { componentId } from '../../component-list.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import { semanticTag } from '../case-scenario.ts'
import { quietTag } from '../expectation.ts'
import { historyFile } from '../history-file.ts'
import { scaffoldScript } from '../scaffold-files.ts'
import { graderFile, yamlText } from './grader-file.ts'
import { triggerGrader } from './trigger-grader.ts'

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
