import type { Components, HookComponent } from '../../analyze/contract.ts'
import { hookMatches, readMatcher } from '../../analyze/matcher.ts'
import type { SetupMessage } from '../contract.ts'
import { requestTemplates, workspaceFiles } from './request-templates.ts'

/** Requests for events about one tool: one for each matching tool, and two for tools that do not match. null for any other event. */
export function toolEventRequests(hook: HookComponent, surroundings: HookSurroundings): HookPrompts | null {
  const ask = askFor(hook.event, surroundings)
  if (ask === null) return null
  if (hook.event === 'PermissionRequest' && surroundings.permissionBypass)
    return skipped('no permission is requested while execution.permission_bypass is on')
  const tools = toolsOf(hook, surroundings)
  if (tools.length === 0) return skipped('its matcher matches no known tool')
  const rule = conditionOf(hook)
  const positives: HookPrompt[] = []
  const warnings: string[] = []
  for (const tool of tools) {
    const isThere = hasTool(tool, surroundings)
    const request = rule === null ? ask(tool) : requestUnder(rule, tool)
    if (request === null || !isThere) {
      const why = isThere ? whyNot(hook.event, tool, rule) : 'this version of Claude Code does not have it'
      warnings.push(`no scenario for ${tool}: ${why}`)
      continue
    }
    positives.push({
      ...request,
      suffix: `${safe(tool)}-direct`,
      fires: true,
      tools: [tool],
      reasoning: `It makes the agent use ${tool}, which the matcher fits.`,
    })
  }
  if (positives.length === 0) return skipped(warnings.join('; '))
  return {
    kind: 'requests',
    requests: [...positives, ...negatives(hook, surroundings)],
    ...(warnings.length > 0 && { warnings }),
  }
}

const mostNegatives = 2

/** The request that triggers a tool event for a tool; null for other events. */
function askFor(
  event: string,
  { components }: HookSurroundings,
): ((tool: string) => ToolPrompt | null) | null {
  switch (event) {
    case 'PreToolUse':
    case 'PostToolUse':
      return (tool) => (tool === 'Skill' ? skillRequest(components.skills) : null) ?? requestFor(tool)
    case 'PostToolUseFailure':
      return failingRequestFor
    case 'PermissionRequest':
      return (tool) => (needsPermission(tool) ? requestFor(tool) : null)
    default:
      return null
  }
}

/** A skill of the plugin that a model may invoke, if there is one. */
function skillRequest(skills: HookSurroundings['components']['skills']): ToolPrompt | null {
  const skill = skills.find(({ disable_model_invocation }) => !disable_model_invocation)
  return skill === undefined ? null : { prompt: `Use the skill ${skill.cli_name} now.` }
}

/** Reading in the working directory never needs permission. */
function needsPermission(tool: string): boolean {
  return !['Read', 'Glob', 'Grep', 'Task', 'Agent', 'Skill', 'TodoWrite'].includes(tool)
}

/** A matcher that matches everything is tried with one tool. */
function toolsOf(
  { matcher, event, matching_tools }: HookComponent,
  surroundings: HookSurroundings,
): readonly string[] {
  const read = readMatcher(matcher)
  if (read.kind === 'all')
    return [event === 'PostToolUseFailure' || event === 'PermissionRequest' ? 'Bash' : anyTool]
  const own = surroundings.components.mcp_servers.flatMap(({ tool_prefix, known_tools }) =>
    known_tools.map((tool) => (tool.startsWith(tool_prefix) ? tool : `${tool_prefix}${tool}`)),
  )
  const fitting = [
    ...new Set([
      ...matching_tools.filter((tool) => tool !== '*'),
      ...own.filter((tool) => hookMatches(matcher, tool)),
    ]),
  ]
  const named = read.kind === 'names' ? read.names : []
  const tools = fitting.length > 0 ? fitting : named
  const asked =
    event === 'PermissionRequest' ? tools.filter((tool) => !surroundings.allowedTools.includes(tool)) : tools
  return oneName(asked)
}

/** `Agent` and `Task` are one tool. */
function oneName(tools: readonly string[]): readonly string[] {
  return tools.includes('Agent') ? tools.filter((tool) => tool !== 'Task') : tools
}

/** Servers connect late, so their tools are unknown at the start. */
function hasTool(tool: string, { cliTools }: HookSurroundings): boolean {
  return cliTools === null || tool.startsWith('mcp__') || cliTools.some((own) => hookMatches(own, tool))
}

function negatives({ matcher }: HookComponent, surroundings: HookSurroundings): readonly HookPrompt[] {
  if (readMatcher(matcher).kind === 'all') return []
  return toolsBeside((tool) => hookMatches(matcher, tool))
    .filter((tool) => hasTool(tool, surroundings))
    .slice(0, mostNegatives)
    .map((tool) => ({
      ...requestFor(tool),
      suffix: `${safe(tool)}-negative`,
      fires: false,
      tools: [tool],
      reasoning: `It makes the agent use ${tool}, which the matcher does not fit.`,
    }))
}

function whyNot(event: string, tool: string, rule: string | null): string {
  if (rule !== null) return `no known request matches \`${rule}\``
  if (event === 'PostToolUseFailure')
    return `an invalid call of ${tool} is rejected before it runs, so it does not fail`
  return `${tool} needs no permission`
}

/** A tool's name as part of a file name. */
function safe(tool: string): string {
  return tool.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()
}

/** The group's permission rule, such as `Bash(git *)`; null when one of its handlers has no condition. */
export function conditionOf({ handlers }: Pick<HookComponent, 'handlers'>): string | null {
  const rules = handlers.map(({ raw }) => (typeof raw.if === 'string' ? raw.if.trim() : ''))
  return rules.length === 0 || rules.includes('') ? null : (rules[0] ?? null)
}

/** A request for a tool that matches the rule; null when the rule is about another tool or cannot be evaluated. */
function requestUnder(rule: string, tool: string): ToolPrompt | null {
  const [, ruled = '', detail] = /^([\w*]+)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (ruled !== tool) return null
  if (detail === undefined || detail === '' || detail === '*') return requestFor(tool)
  if (tool === 'Bash')
    return { prompt: `Run the command ${commandFor(detail)} in the shell and show me what it prints.` }
  const path = pathFor(detail)
  if (path === null) return null
  const files = { [path]: text }
  switch (tool) {
    case 'Read':
      return { prompt: `Read ${path} and tell me in one sentence what it says.`, files }
    case 'Write':
      return { prompt: `Create a new file ${path} with the text: Hello from the workshop.` }
    case 'Edit':
      return { prompt: `In ${path}, change the word example to the word sample.`, files }
    default:
      return null
  }
}

const text = 'an example in one line\n'

/** `git *` and `git:*` match any command with that prefix. */
function commandFor(pattern: string): string {
  const [before = ''] = pattern.split('*')
  const fixed = before.replace(/:$/, '').trim()
  return pattern.includes('*') ? `${fixed} --version`.trim() : fixed
}

/** A path in the workspace that matches the pattern; null when the pattern is outside of it. */
function pathFor(pattern: string): string | null {
  const relative = pattern.replace(/^\.?\//, '')
  if (
    relative === '' ||
    /^[/~]/.test(relative) ||
    relative.split('/').includes('..') ||
    /[[\]{}!?]/.test(relative)
  )
    return null
  const path = relative.replaceAll('**/', '').replaceAll('**', 'sample.txt').replaceAll('*', 'sample')
  return path.endsWith('/') ? `${path}sample.txt` : path
}

/** A request that makes an agent use one tool, and the files it is about. */
interface ToolPrompt {
  readonly prompt: string
  readonly files?: Readonly<Record<string, string>>
}

/** A harmless and allowed tool, for a matcher that matches everything. */
const anyTool = 'Read'

const { tools } = requestTemplates

function requestFor(tool: string): ToolPrompt {
  const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  if (known === undefined) return { prompt: genericPrompt(tool) }
  const { prompt, files } = known
  return { prompt, ...(files.length > 0 && { files: workspaceFiles(files) }) }
}

/** A request that makes a tool fail while it runs; null where an invalid call is rejected first. */
function failingRequestFor(tool: string): ToolPrompt | null {
  if (tool === 'Bash')
    return { prompt: 'Run the command ls /no/such/directory in the shell and show me what it says.' }
  if (tool === 'WebFetch') return { prompt: 'Fetch http://127.0.0.1:9/ and tell me what happens.' }
  if (tool.startsWith('mcp__'))
    return { prompt: `Call the tool ${tool} with arguments that it cannot accept, and tell me its error.` }
  return null
}

/** Tools that a request can use without any of the given ones. Tools that every CLI has come first. */
function toolsBeside(taken: (tool: string) => boolean): readonly string[] {
  const quiet = ['Read', 'Bash', 'Write', 'Edit', 'Glob', 'Grep']
  return quiet.filter((tool) => !taken(tool) && !(tools[tool]?.implies ?? []).some(taken))
}

function genericPrompt(tool: string): string {
  return tool.startsWith('mcp__')
    ? `Call the tool ${tool} once, with arguments you find sensible, and show me its answer.`
    : `Use your tool ${tool} once, in whatever way makes sense here, and say what came of it.`
}

export interface HookPrompt {
  readonly suffix: string
  readonly prompt: string
  readonly fires: boolean
  readonly reasoning: string
  readonly files?: Readonly<Record<string, string>>
  readonly tools?: readonly string[]
  readonly setup?: readonly SetupMessage[]
}

export type HookPrompts =
  | {
      readonly kind: 'requests'
      readonly requests: readonly HookPrompt[]
      readonly warnings?: readonly string[]
    }
  /** The event cannot happen in an unattended session. */
  | { readonly kind: 'skipped'; readonly reason: string }

/** Further conditions that decide whether an event can happen. */
export interface HookSurroundings {
  readonly components: Components
  /** Permissions are never requested. */
  readonly permissionBypass: boolean
  /** Tools the CLI reported; null: the CLI has not been started yet. */
  readonly cliTools: readonly string[] | null
  /** Tools that need no permission. */
  readonly allowedTools: readonly string[]
}

export function skipped(reason: string): HookPrompts {
  return { kind: 'skipped', reason }
}
