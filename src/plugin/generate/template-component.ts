import type { Analysis, CommandComponent, HookComponent, SkillComponent } from '../analyze/contract.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import type { AnyComponent } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import {
  type ComponentScenarios,
  recorded,
  scenarioMaker,
  type TemplateScenarios,
} from './component-record.ts'
import { mostTried, typable, unrelatedRequest } from './fallback-scenarios.ts'
import { requestsOfEvent } from './templates/event-requests.ts'
import { mcpTemplates } from './templates/mcp-templates.ts'
import { workspaceFiles } from './templates/request-templates.ts'
import {
  conditionOf,
  type HookPrompts,
  type HookSurroundings,
  toolEventRequests,
} from './templates/tool-event-requests.ts'

/** The scenarios of a component made from templates; null for one that needs a model. */
export function templateComponent(
  entry: AnyComponent,
  analysis: Pick<Analysis, 'components' | 'plugin_load_result'>,
  config: Pick<PluginConfig, 'execution' | 'mcp_servers'>,
): ComponentScenarios | null {
  const templates = templatesOf(entry, analysis, config)
  if (templates === null) return null
  const { scenarios, skipped, warnings = [] } = templates
  return recorded(entry, scenarios, {
    origin: scenarios.length === 0 ? 'none' : 'template',
    ...(skipped !== undefined && { skipped }),
    warnings: [...warnings],
  })
}

function templatesOf(
  entry: AnyComponent,
  { components, plugin_load_result }: Pick<Analysis, 'components' | 'plugin_load_result'>,
  { execution, mcp_servers }: Pick<PluginConfig, 'execution' | 'mcp_servers'>,
): TemplateScenarios | null {
  switch (entry.type) {
    case 'skill':
      return skillTemplates(entry.component)
    case 'agent':
      return null
    case 'command':
      return commandTemplates(entry.component)
    case 'hook':
      return hookTemplates(entry.component, {
        components,
        cliTools: plugin_load_result?.loaded === true ? plugin_load_result.registered_tools : null,
        permissionBypass: execution.permission_bypass,
        allowedTools: execution.allowed_tools,
      })
    case 'mcp_server':
      return mcpTemplates(entry.component, { skipAuthRequired: mcp_servers.skip_auth_required })
  }
}

const blocked = 'model-invocation-blocked'

/** Scenarios for a skill that no model can invoke: a user types its name, or it never starts. null for a skill that a model can choose. */
export function skillTemplates(skill: SkillComponent): TemplateScenarios | null {
  if (!skill.disable_model_invocation) return null
  const { name, cli_name, triggers } = skill
  if (!skill.user_invocable)
    return { scenarios: [], skipped: 'it can be invoked neither by a model nor by a person' }
  const scenario = scenarioMaker('skill', name, 'template')
  return {
    scenarios: [
      scenario('basic', 'direct', `/${cli_name}`, { reasoning: 'The skill as a person types it.' }),
      scenario(blocked, 'negative', triggers[0] ?? `Could you use the ${name} skill?`, {
        reasoning: 'The skill says that a model cannot invoke it.',
      }),
    ],
  }
}

/** Requests that make a hook's event happen and, where its matcher excludes something, requests that do not match. */
export function hookTemplates(hook: HookComponent, surroundings: HookSurroundings): TemplateScenarios {
  const requests = requestsOf(hook, surroundings)
  if (requests.kind === 'skipped') return { scenarios: [], skipped: requests.reason }
  const scenario = scenarioMaker('hook', hook.name, 'template')
  return {
    scenarios: requests.requests.map(({ suffix, prompt, fires, reasoning, files, tools, setup }) =>
      scenario(suffix, fires ? 'direct' : 'negative', prompt, {
        reasoning,
        ...(files !== undefined && { files }),
        ...(tools !== undefined && tools.length > 0 && { needs_tools: tools }),
        ...(setup !== undefined && { setup_messages: setup }),
      }),
    ),
    ...(requests.warnings !== undefined && {
      warnings: requests.warnings.map((warning) => `hook ${hook.name}: ${warning}`),
    }),
  }
}

function requestsOf(hook: HookComponent, surroundings: HookSurroundings): HookPrompts {
  if (conditionOf(hook) !== null && hookEvents.get(hook.event)?.takesCondition !== true)
    return { kind: 'skipped', reason: `on ${hook.event} a handler with \`if\` never runs` }
  return toolEventRequests(hook, surroundings) ?? requestsOfEvent(hook, surroundings)
}

/**
 * The command typed once, with arguments as its hint asks for: more typing would test Claude Code, not the plugin. Then what users
 * say according to its description, and requests for which it must not fire.
 */
export function commandTemplates(command: CommandComponent): TemplateScenarios {
  const { name, invocation, argument_hint: hint } = command
  const { triggers = [], negative_triggers: unwanted = [] } = command.disable_model_invocation ? {} : command
  const scenario = scenarioMaker('command', name, 'template')
  const hinted = hint === null || hint.trim() === '' ? null : hintValues(hint)
  const args = hinted?.kind === 'values' ? hinted.values : []
  return {
    scenarios: [
      scenario('basic', 'direct', [invocation, ...args].join(' '), {
        reasoning: `The command as it is typed${args.length === 0 ? '' : ', with arguments as its hint asks for'}.`,
        ...(args.length > 0 && { files: workspaceFiles(['test-file.ts', 'src/index.ts']) }),
      }),
      ...typable(triggers)
        .slice(0, mostTried)
        .map((phrase, index) =>
          scenario(`direct-${index + 1}`, 'direct', phrase, {
            reasoning: 'The command says that it is for this.',
          }),
        ),
      // A request for the command in prose is a negative only where a model cannot invoke it.
      command.disable_model_invocation
        ? scenario(
            blocked,
            'negative',
            `Please start the ${name} command yourself and tell me what it says.`,
            {
              reasoning: 'The command says that a model cannot invoke it.',
            },
          )
        : scenario('negative-1', 'negative', unrelatedRequest([name, command.description]), {
            reasoning: 'It has nothing to do with the command.',
            tags: ['unrelated'],
          }),
      ...typable(unwanted)
        .slice(0, mostTried)
        .map((phrase, index) =>
          scenario(`negative-${index + 2}`, 'negative', phrase, {
            reasoning: 'The command says that it is not for this.',
            tags: ['near-miss', 'excluded'],
          }),
        ),
    ],
    ...(hinted?.kind === 'refused' && { warnings: [`command ${name}: ${hinted.reason}`] }),
  }
}

type HintValues =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }

const maxHint = 1_000

/** One value for each `[x]` and `<x>` of an argument hint; a hint without brackets is one argument. */
export function hintValues(hint: string): HintValues {
  if (hint.length > maxHint)
    return { kind: 'refused', reason: `its argument hint is longer than ${maxHint} characters` }
  const inBrackets = [...hint.matchAll(/\[([^[\]]*)\]|<([^<>]*)>/g)].map(
    ([, square, angle]) => square ?? angle ?? '',
  )
  const words = inBrackets.length > 0 ? inBrackets : [hint]
  return { kind: 'values', values: words.filter((word) => word.trim() !== '').map(valueFor) }
}

/** The first row with a word that is in the hint decides. */
const table: readonly (readonly [readonly string[], string])[] = [
  [['file', 'files', 'filename', 'filepath'], 'test-file.ts'],
  [['dir', 'dirs', 'directory', 'folder', 'path', 'paths'], './src'],
  [['option', 'options', 'flag', 'flags'], '--verbose'],
  [['url', 'urls', 'link', 'uri'], 'https://example.com'],
  [['name', 'names', 'username', 'title'], 'test-name'],
  [['id', 'ids', 'identifier'], '123'],
  [['number', 'count', 'num', 'limit', 'amount'], '42'],
]

/** A flag, or the first of several choices, is used literally. */
function valueFor(hint: string): string {
  const words = hint
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const row = table.find(([known]) => known.some((word) => words.includes(word)))
  if (row !== undefined) return row[1]
  const flag = /(?:^|\s)(--?[A-Za-z][\w-]*)/.exec(hint)?.[1]
  if (flag !== undefined) return flag
  const choice = /^\s*([\w-]+)\s*\|/.exec(hint)?.[1]
  return choice ?? 'test-value'
}
