import { defined } from '../../core/json-fields.ts'
import { componentId } from '../component-list.ts'
import {
  type EvalCaseFacts,
  type PluginScenario,
  type ScenarioType,
  scenarioTypes,
  semanticVariationTypes,
} from '../generate/contract.ts'
import { type Expectation, quietTag } from './expectation.ts'
import type { WrittenCase } from './read-case.ts'

/** Fields of a case that are read from files beside it. */
export interface CaseExtras {
  readonly setup_messages?: PluginScenario['setup_messages']
  readonly files?: PluginScenario['files']
  /** Absolute. */
  readonly plugins?: readonly string[]
  readonly mocks?: EvalCaseFacts['mocks']
}

/** Tools that are disallowed by default; a case that lists one needs it. */
const withheld: ReadonlySet<string> = new Set(['Write', 'Edit', 'Bash'])

export const semanticTag = 'semantic:'

export function caseScenario(
  written: WrittenCase,
  id: string,
  { component, expected }: Expectation,
  extras: CaseExtras,
): PluginScenario {
  const { tags = [], description, expected_outcome, allowed_tools = [] } = written
  const name = component?.component.name ?? ''
  const type = component?.type ?? 'skill'
  const scenario_type = scenarioType(tags, expected)
  const variation = tags.find((tag) => tag.startsWith(semanticTag))?.slice(semanticTag.length)
  const own = new Set<string>([
    scenario_type,
    quietTag,
    `${semanticTag}${variation}`,
    componentId(type, name),
  ])
  const kept = component === null ? tags : tags.filter((tag) => !own.has(tag))
  const needed = allowed_tools.filter((tool) => withheld.has(tool))
  return defined({
    id,
    component_ref: name,
    component_type: type,
    expected_component: name,
    scenario_type,
    user_prompt: written.prompt,
    expected_trigger: expected,
    setup_messages: extras.setup_messages,
    semantic_variation_type: semanticVariationTypes.find((type) => type === variation),
    reasoning: description ?? expected_outcome,
    origin: 'case' as const,
    tags: kept.length > 0 ? kept : undefined,
    files: extras.files,
    needs_tools: needed.length > 0 ? needed : undefined,
    case: factsOf(written, extras),
  })
}

function factsOf(written: WrittenCase, { plugins, files, setup_messages, mocks }: CaseExtras): EvalCaseFacts {
  const { dir, graders, timeout_seconds: seconds } = written
  return defined({
    dir,
    graders,
    runs: written.runs,
    model: written.model,
    max_turns: written.max_turns,
    timeout_ms: seconds === undefined ? undefined : seconds * 1_000,
    allowed_tools: written.allowed_tools,
    disallowed_tools: written.disallowed_tools,
    append_system_prompt: written.append_system_prompt,
    env: written.env,
    plugins,
    // Parts that were read already are not run or read again.
    scaffold_script: files === undefined ? written.scaffold_script : undefined,
    history_file: setup_messages === undefined ? written.history_file : undefined,
    add_dirs: written.add_dirs,
    mocks,
  })
}

/** A tag may set it, unless it contradicts the expectation. */
function scenarioType(tags: readonly string[], expected: boolean): ScenarioType {
  const fitting = scenarioTypes.filter((type) => type === 'edge_case' || (type === 'negative') !== expected)
  return fitting.find((type) => tags.includes(type)) ?? (expected ? 'direct' : 'negative')
}

interface NamedCase {
  readonly name: string
  /** Relative to the directory of all cases. */
  readonly path: string
}

/** A unique file name for each case: its name, or its path when several have the same name. Never depends on the order. */
export function caseIds(cases: readonly NamedCase[]): ReadonlyMap<string, string> {
  const byName = Map.groupBy(cases, ({ name }) => fileName(name).toLowerCase())
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  for (const { name, path } of cases) {
    const isAlone = byName.get(fileName(name).toLowerCase())?.length === 1
    const wanted = isAlone ? fileName(name) : fileName(path.replaceAll('/', '.'))
    let id = wanted
    for (let count = 2; taken.has(id.toLowerCase()); count += 1) id = `${wanted}-${count}`
    taken.add(id.toLowerCase())
    ids.set(path, id)
  }
  return ids
}

const longest = 100

export function fileName(text: string, otherwise = 'case'): string {
  const plain = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? otherwise : plain.slice(0, longest)
}
