import type { HookComponent } from '../../analyze/contract.ts'
import { hookMatches, readMatcher } from '../../analyze/matcher.ts'
import { conditionOf, requestUnder } from './hook-condition.ts'
import { type HookRequest, type HookRequests, type HookSurroundings, skipped } from './hook-request.ts'
import { anyTool, failingRequestFor, requestFor, type ToolRequest, toolsBeside } from './tool-requests.ts'

/** Events that are about one tool: a request for each tool that fits, and for two that do not. null for any other event. */
export function toolEventRequests(hook: HookComponent, surroundings: HookSurroundings): HookRequests | null {
  const ask = askFor(hook.event, surroundings)
  if (ask === null) return null
  if (hook.event === 'PermissionRequest' && surroundings.permissionBypass)
    return skipped('nothing asks for a permission while execution.permission_bypass is on')
  const tools = toolsOf(hook, surroundings)
  if (tools.length === 0) return skipped('its matcher fits no tool that is known')
  const rule = conditionOf(hook)
  const positives: HookRequest[] = []
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

/** Events of tools, and the request that makes one happen for a tool; null for others. */
function askFor(
  event: string,
  { components }: HookSurroundings,
): ((tool: string) => ToolRequest | null) | null {
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

/** A skill of the plugin, where it has one that a model may take. */
function skillRequest(skills: HookSurroundings['components']['skills']): ToolRequest | null {
  const skill = skills.find(({ disable_model_invocation }) => !disable_model_invocation)
  return skill === undefined ? null : { prompt: `Use the skill ${skill.cli_name} now.` }
}

/** Reading in one's own directory is never asked about. */
function needsPermission(tool: string): boolean {
  return !['Read', 'Glob', 'Grep', 'Task', 'Agent', 'Skill', 'TodoWrite'].includes(tool)
}

/** A matcher that fits everything is tried with one tool. */
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

/** Servers connect late, so that their tools are not told at the start. */
function hasTool(tool: string, { cliTools }: HookSurroundings): boolean {
  return cliTools === null || tool.startsWith('mcp__') || cliTools.some((own) => hookMatches(own, tool))
}

function negatives({ matcher }: HookComponent, surroundings: HookSurroundings): readonly HookRequest[] {
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
  if (rule !== null) return `no request is known for which \`${rule}\` holds`
  if (event === 'PostToolUseFailure')
    return `a bad call of ${tool} is refused before it runs, which is no failure`
  return `${tool} needs no permission`
}

/** A tool's name as part of a file name. */
function safe(tool: string): string {
  return tool.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()
}
