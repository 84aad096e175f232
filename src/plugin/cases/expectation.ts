import type { Analysis, Components } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../component-list.ts'
import type { Grader, ToolPattern } from '../generate/contract.ts'
import { inputMatch } from './pattern/compile-js-pattern.ts'

/** The parts of a case that show which component should fire. */
export interface ExpectationFacts {
  readonly prompt: string
  readonly tags: readonly string[]
  readonly graders: readonly Grader[]
}

export interface Expectation {
  /** null: only graders decide. */
  readonly component: AnyComponent | null
  readonly expected: boolean
  /** Graders that name a component the plugin does not have. */
  readonly unknown: readonly string[]
}

/** A tag of this name means that the component of another tag must not fire. */
export const quietTag = 'quiet'

/**
 * Which component a case is about, and whether it should fire. In this order: a tag that is a component's id; the first grader that wants
 * exactly one component to fire; a prompt that begins with a command of the plugin; the first grader that wants exactly one not to fire.
 */
export function expectationOf(
  { prompt, tags, graders }: ExpectationFacts,
  { components }: Pick<Analysis, 'components'>,
): Expectation {
  const claims = graders.flatMap((grader) => {
    const claim = claimOf(grader, components)
    return claim === null ? [] : [{ ...claim, name: grader.name }]
  })
  const unknown = claims
    .filter(({ components: meant, isNamed }) => isNamed && meant.length === 0)
    .map(({ name }) => name)
  const tagged = componentList(components).find(({ type, component }) =>
    tags.includes(componentId(type, component.name)),
  )
  if (tagged !== undefined) {
    const own = claims.find((claim) => isAbout(claim, tagged))
    return { component: tagged, expected: own?.expected ?? !tags.includes(quietTag), unknown }
  }
  const certain = claims.filter(({ components: meant }) => meant.length === 1)
  const claim = certain.find(({ expected }) => expected)
  const typed = typedComponent(prompt, componentList(components))
  if (claim === undefined && typed !== null) return { component: typed, expected: true, unknown }
  const decisive = claim ?? certain[0]
  return { component: decisive?.components[0] ?? null, expected: decisive?.expected ?? true, unknown }
}

function isAbout({ components }: TriggerClaim, wanted: AnyComponent): boolean {
  return components.length === 1 && components.some(({ component }) => component === wanted.component)
}

/** The component that a typed prompt starts: `/demo:deploy:staging now`. */
function typedComponent(prompt: string, all: readonly AnyComponent[]): AnyComponent | null {
  const [, typed] = /^\/(\S+)/.exec(prompt) ?? []
  if (typed === undefined) return null
  const name = typed.replaceAll('/', ':')
  return (
    all.find(
      ({ type, component }) => (type === 'command' || type === 'skill') && component.cli_name === name,
    ) ?? null
  )
}

/** What a grader expects of components. */
interface TriggerClaim {
  /** The components it could mean; more than one when it is ambiguous. */
  readonly components: readonly AnyComponent[]
  readonly expected: boolean
  /** Whether it means a component by name, and not just any. */
  readonly isNamed: boolean
}

/** null for a grader that is about something else. */
function claimOf(grader: Grader, components: Components): TriggerClaim | null {
  if (grader.type === 'regex') return serverClaim(grader, components)
  if (grader.type !== 'tool_used') return null
  const { use, min, max } = grader
  const expected = min > 0 ? true : max === 0 ? false : null
  const list = expected === null ? null : componentsOf(use, components)
  if (expected === null || list === null) return null
  return {
    components: list,
    expected,
    isNamed: use.input_match !== undefined || use.tool.startsWith('mcp__'),
  }
}

/** The components that a call of this tool with a matching input starts; null when it starts none. */
function componentsOf(use: ToolPattern, components: Components): readonly AnyComponent[] | null {
  const all = componentList(components)
  const match = inputMatch(use.input_match)
  const ofTypes = (...types: readonly AnyComponent['type'][]) =>
    all.filter(
      ({ type, component }) =>
        match.kind === 'ok' && types.includes(type) && inputsOf(use.tool, component).some(match.fits),
    )
  switch (use.tool) {
    case 'Skill':
    case 'SlashCommand':
      return ofTypes('skill', 'command')
    case 'Agent':
    case 'Task':
      return ofTypes('agent')
    default:
      return use.tool.startsWith('mcp__') ? all.filter((one) => isToolOf(use.tool, one)) : null
  }
}

/** Inputs with which the tool would start this component, in the spellings that models use. */
function inputsOf(tool: string, { name, cli_name }: AnyComponent['component']): readonly object[] {
  const names = [...new Set([cli_name, name, name.replaceAll('/', ':')])]
  if (tool === 'Skill') return names.map((skill) => ({ skill }))
  if (tool === 'SlashCommand') return names.map((command) => ({ command: `/${command}` }))
  return names.flatMap((subagent_type) => [
    { subagent_type, description: '', prompt: '' },
    { description: '', prompt: '', subagent_type },
  ])
}

function isToolOf(tool: string, { type, component }: AnyComponent): boolean {
  return type === 'mcp_server' && tool.startsWith(component.tool_prefix)
}

/** Matches any tool of a server: a tool's name in the trace begins with the server's. */
export function serverPattern(toolPrefix: string): string {
  return `"name":"${toolPrefix}`
}

function serverClaim(
  { pattern, target, match }: Extract<Grader, { type: 'regex' }>,
  { mcp_servers: servers }: Components,
): TriggerClaim | null {
  if (target !== 'trace' || typeof match !== 'string') return null
  const server = servers.find(({ tool_prefix }) => serverPattern(tool_prefix) === pattern)
  if (server === undefined) return null
  return {
    components: [{ type: 'mcp_server', component: server }],
    expected: match === 'contains',
    isNamed: true,
  }
}
