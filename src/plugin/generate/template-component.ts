import type { Analysis, HookComponent, SkillComponent } from '../analyze/contract.ts'
import { type AnyComponent, componentId } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import {
  type ComponentScenarios,
  type TemplateScenarios,
  typeCounts,
  type UnnamedScenario,
} from './component-record.ts'
import { commandTemplates } from './templates/command-templates.ts'
import { requestsOfEvent } from './templates/event-requests.ts'
import type { HookPrompt, HookPrompts, HookSurroundings } from './templates/hook-request.ts'
import { mcpTemplates } from './templates/mcp-templates.ts'
import { conditionOf, eventsWithConditions, toolEventRequests } from './templates/tool-event-requests.ts'

/** The scenarios of a component made from templates; null for one that needs a model. */
export function templateComponent(
  entry: AnyComponent,
  analysis: Pick<Analysis, 'components' | 'plugin_load_result'>,
  config: Pick<PluginConfig, 'execution' | 'mcp_servers'>,
): ComponentScenarios | null {
  const templates = templatesOf(entry, analysis, config)
  if (templates === null) return null
  const { scenarios, skipped, warnings = [] } = templates
  const { name } = entry.component
  return {
    scenarios,
    record: {
      component: componentId(entry.type, name),
      component_type: entry.type,
      name,
      origin: scenarios.length === 0 ? 'none' : 'template',
      asked: {},
      got: typeCounts(scenarios),
      dropped: [],
      repaired: [],
      ...(skipped !== undefined && { skipped }),
      usage: [],
      warnings: [...warnings],
    },
  }
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

/**
 * A skill that no model can invoke is not tested by wording: a user types its name, or it never starts. null for a skill
 * that a model does choose.
 */
export function skillTemplates(skill: SkillComponent): TemplateScenarios | null {
  if (!skill.disable_model_invocation) return null
  const { name, cli_name, triggers } = skill
  if (!skill.user_invocable)
    return { scenarios: [], skipped: 'it can be invoked neither by a model nor by a person' }
  const facts = {
    component_ref: name,
    expected_component: name,
    component_type: 'skill' as const,
    origin: 'template' as const,
  }
  const typed = (suffix: string, user_prompt: string, reasoning: string): UnnamedScenario => ({
    ...facts,
    suffix,
    scenario_type: 'direct',
    user_prompt,
    expected_trigger: true,
    reasoning,
  })
  return {
    scenarios: [
      typed('basic', `/${cli_name}`, 'The skill as a person types it.'),
      typed('with-args', `/${cli_name} test-value`, 'The skill as a person types it, with one argument.'),
      {
        ...facts,
        suffix: 'model-invocation-blocked',
        scenario_type: 'negative',
        user_prompt: triggers[0] ?? `Could you use the ${name} skill?`,
        expected_trigger: false,
        reasoning: 'The skill says that a model cannot invoke it.',
      },
    ],
  }
}

/** What makes the event of a hook happen, and where its matcher leaves something out, what happens beside it. */
export function hookTemplates(hook: HookComponent, surroundings: HookSurroundings): TemplateScenarios {
  const requests = requestsOf(hook, surroundings)
  if (requests.kind === 'skipped') return { scenarios: [], skipped: requests.reason }
  return {
    scenarios: requests.requests.map((request) => toScenario(hook, request)),
    ...(requests.warnings !== undefined && {
      warnings: requests.warnings.map((warning) => `hook ${hook.name}: ${warning}`),
    }),
  }
}

function requestsOf(hook: HookComponent, surroundings: HookSurroundings): HookPrompts {
  if (conditionOf(hook) !== null && !eventsWithConditions.has(hook.event))
    return { kind: 'skipped', reason: `on ${hook.event} a handler with \`if\` never runs` }
  return toolEventRequests(hook, surroundings) ?? requestsOfEvent(hook, surroundings)
}

function toScenario(
  { name }: HookComponent,
  { suffix, prompt, fires, reasoning, files, tools, setup }: HookPrompt,
): UnnamedScenario {
  return {
    suffix,
    component_ref: name,
    expected_component: name,
    component_type: 'hook',
    scenario_type: fires ? 'direct' : 'negative',
    user_prompt: prompt,
    expected_trigger: fires,
    reasoning,
    origin: 'template',
    ...(files !== undefined && { files }),
    ...(tools !== undefined && tools.length > 0 && { needs_tools: tools }),
    ...(setup !== undefined && { setup_messages: setup }),
  }
}
